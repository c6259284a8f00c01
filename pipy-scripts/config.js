// The only reader of files and arguments: `pipy main.js --args /path/to/sidecar.json`.
// The file is the sidecar model of src/model/types.ts, as src/dataplanes/pipy/config.js renders it.

var path = pipy.argv.find(a => a.endsWith('.json'))
if (!path) throw 'no configuration: name the sidecar.json after --args'

var config = JSON.parse(os.read(path).toString())

export default config
