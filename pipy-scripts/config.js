// The only reader of files and arguments: `pipy main.js --args /path/to/sidecar.json`. Without an argument the file is
// beside the scripts, where a repository hands it out with them.
// The file is the sidecar model of src/model/types.ts, as src/dataplanes/pipy/config.js renders it.

var path = pipy.argv.find(a => a.endsWith('.json'))
var text = path ? os.read(path) : pipy.load('sidecar.json')
if (!text) throw 'no configuration: name the sidecar.json after --args'

var config = JSON.parse(text.toString())

// Pipy holds so many bytes of a body before it sends the first of them, unless the body ends before. A small body then keeps its
// length; of answers that are written in chunks, each chunk is sent when it comes.
export var bufferSize = config.streamsAnswers ? 1 : 16384

export default config
