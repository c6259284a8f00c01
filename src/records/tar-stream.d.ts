/** The part of tar-stream that bundles need; it brings no types. */
declare module 'tar-stream' {
  export interface Header {
    name: string
    type?: string | null
    linkname?: string
    size?: number
    mtime?: Date
    mode?: number
    pax?: Record<string, string>
  }
  export interface Pack extends AsyncIterable<Uint8Array> {
    entry(header: Header, content: string | Uint8Array): void
    finalize(): void
  }
  export interface Entry extends NodeJS.ReadableStream {
    header: Header & { size: number }
  }
  export interface Extract extends NodeJS.WritableStream {
    [Symbol.asyncIterator](): AsyncIterator<Entry>
  }
  export function pack(): Pack
  export function extract(): Extract
}
