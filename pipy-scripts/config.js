// The only reader of files and arguments: `pipy main.js --args /path/to/sidecar.json`. Without an argument the file is
// beside the scripts, where a repository hands it out with them.
// The file is the sidecar model of src/model/types.ts, as src/dataplanes/pipy/config.js renders it.

var path = pipy.argv.find(a => a.endsWith('.json'))
var text = path ? os.read(path) : pipy.load('sidecar.json')
if (!text) throw 'no configuration: name the sidecar.json after --args'

var config = JSON.parse(text.toString())

export default config
