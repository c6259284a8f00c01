import { EXIT, EXIT_MEANINGS } from '../lib/errors.js'
import { renderCommand } from '../lib/render-command.js'

const { done, failed, usage, noResult, planeMissing, thresholdCrossed } = EXIT
const ENDED = [EXIT.hangup, EXIT.interrupted, EXIT.quit, EXIT.userSignal, EXIT.terminated]
const ALL = [done, failed, usage, noResult, planeMissing, thresholdCrossed, ...ENDED]

/**
 * Help of each verb beside its options: what it does, its exit statuses, and examples. The words of an example follow the verb,
 * unless they are a whole line that names `sidecar-bench`.
 * @type {Record<string, { does: string, statuses: (keyof typeof EXIT_MEANINGS)[], examples: [words: string, does: string][] }>}
 */
export const HELP = {
  bench: createVerbHelp(
    'measure data planes, and report what they deliver and cost; balance: compute assignments to shards (takes --seed, --out, --json)',
    ALL,
    ['--cpu 1', 'no mesh, Pipy and Envoy, each sidecar limited to 1 CPU'],
    ['--planes pipy,pipy=./my-scripts --cpu 0.5', 'changed Pipy scripts against those of the kit'],
  ),
  plan: createVerbHelp(
    'print what bench would run, and how long it takes',
    [done, failed, usage, planeMissing],
    ['--cpu 1', 'the arms, the trials and the time of that run'],
    ['rate-ladder --profile full', 'the same for another experiment'],
  ),
  size: createVerbHelp(
    'find and confirm the smallest CPU limit that holds a load, and a CPU request and memory limit with room',
    [done, failed, usage, noResult, planeMissing, ...ENDED],
    ['--rate 500 --p99 20ms --node pi4 --reserve 0.5c,512m', 'and how many such sidecars a node holds'],
    ['--from-prometheus http://localhost:9090 --namespace shop', 'for sidecars that run already, from their metrics'],
  ),
  traffic: createVerbHelp(
    'write the kinds of requests of an access log as a file for --traffic',
    [done, failed, usage, noResult],
    ['access.log > shop.yaml', 'of Envoy, Istio (text or JSON) or nginx (combined)'],
    ['shop.har > shop.yaml', 'of a browser'],
  ),
  claims: createVerbHelp(
    'compare published numbers with your runs',
    [],
    ['results/RUN', 'each published claim, theirs and ours'],
    ['results/RUN results/OTHER --json', 'by two runs, for a program'],
  ),
  report: createVerbHelp(
    'print the report of a run; without a run, list all runs',
    [],
    ['', 'the runs of results/ and their answers'],
    ['results/RUN --format md', 'a run for a pull request'],
  ),
  compare: createVerbHelp(
    'compare two runs, such as before and after a change',
    [done, failed, usage, noResult, thresholdCrossed],
    ['results/OLD results/NEW', 'what changed between two runs'],
    [
      "results/OLD results/NEW --threshold 'new/old cpuPerRequest <= 1.05'",
      'status 5 where CPU per request grew by more than 5 %',
    ],
  ),
  lab: createVerbHelp(
    'count the instructions per request of changed Pipy scripts, and show where they go',
    ALL,
    ['./my-scripts', 'instructions per request of changed scripts, beside those of the kit'],
    ["--threshold 'new/old instructions <= 1.01'", 'status 5 where uncommitted changes take over 1 % more'],
  ),
  verify: createVerbHelp(
    'compute every number of a run again from its raw files',
    [done, failed],
    ['results/RUN', 'compute every number again'],
    ['results/RUN && echo good', 'in a script'],
  ),
  doctor: createVerbHelp(
    'check that this machine, or a cluster, can run the benchmark',
    [done, failed],
    ['', 'what a run on this machine needs'],
    ['--target kubernetes --context kind-kind', 'what a run on a cluster needs'],
  ),
  parity: createVerbHelp(
    'try one data plane with the equal-work check, and list the rows that fall short',
    [done, failed, usage, planeMissing, ...ENDED],
    ['caddy --only mtls', 'one configuration of it'],
    ['pipy=./my-scripts', 'a folder of Pipy scripts'],
  ),
  images: createVerbHelp(
    'list the container images that a cluster needs, or write that of the ADS server',
    [done, failed, usage],
    ['', 'what to load onto a node that reaches no registry'],
    ['--ads ads.tar', 'the image for --control ads, which no registry has'],
  ),
  cleanup: createVerbHelp(
    'remove processes, cgroups, keys and namespaces that killed runs left',
    [],
    ['', 'remove processes, cgroups and files of killed runs'],
    ['--target kubernetes', 'and their namespaces on the cluster'],
  ),
  completion: createVerbHelp(
    'print what a shell needs to complete verbs and options',
    [],
    ['source <(sidecar-bench completion bash)', 'in ~/.bashrc; zsh: the same in ~/.zshrc, after compinit'],
    ['sidecar-bench completion fish | source', 'in ~/.config/fish/config.fish'],
  ),
}

/**
 * Creates the help of a verb from its parts.
 * @param {string} does what the verb does, in one line
 * @param {(keyof typeof EXIT_MEANINGS)[]} statuses []: help has no list of them
 * @param {[string, string][]} examples the words after the verb, and what they do
 * @returns an entry of HELP
 */
function createVerbHelp(does, statuses, ...examples) {
  return { does, statuses, examples }
}

/**
 * Adds to each verb its description, examples and exit statuses, and to the program how to start.
 * @param {import('commander').Command} program
 * @throws {TypeError} if HELP lacks a verb
 */
export function addHelp(program) {
  for (const command of program.commands) {
    const name = command.name()
    const { does, examples, statuses } = HELP[name]
    // The examples of completion are whole lines for a shell, with the name of the program in them.
    const renderExampleCommand = (/** @type {string} */ words) =>
      /sidecar-bench /.test(words) ? words : renderCommand(name, words)
    const exampleLines = examples.flatMap(([words, effect]) => [`  ${renderExampleCommand(words)}`, `      ${effect}`])
    const statusLines = statuses.map(status => `  ${`${status}`.padEnd(4)} ${EXIT_MEANINGS[status]}`)
    const lines = [
      '',
      'Examples:',
      ...exampleLines,
      ...(statusLines.length > 0 ? ['', 'Exit statuses:', ...statusLines] : []),
    ]
    command.description(does).addHelpText('after', lines.join('\n'))
  }
  program.addHelpText(
    'after',
    `\nWrite ${renderCommand('VERB', 'OPTIONS')}. Start with: ${renderCommand('doctor')}, then ${renderCommand('bench', '--cpu 1')}\nOptions, examples and exit statuses of a verb: sidecar-bench VERB --help`,
  )
}
