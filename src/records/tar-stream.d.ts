/** The part of tar-stream that bundles need; it brings no types. */
declare module 'tar-stream' {
  export interface Header {
    name: string
    type?: string | null
    linkname?: string
    size?: number
    mtime?: Date
    mode?: number
  }
  export interface Pack extends AsyncIterable<Uint8Array> {
    entry(header: Header, content: string): void
    finalize(): void
  }
  export interface Entry extends AsyncIterable<Uint8Array> {
    header: Header & { size: number }
  }
  export interface Extract extends AsyncIterable<Entry> {
    end(archive: Uint8Array): void
  }
  export function pack(): Pack
  export function extract(): Extract
}
