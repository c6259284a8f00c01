import { EXIT, EXIT_MEANINGS } from '../lib/exit-status.js'

/**
 * What `--help` says beside the options: what a verb does, examples, and how it ends.
 * @import { Command } from 'commander'
 */

const { done, failed, usage, nothingShown, planeMissing, thresholdCrossed, hangup, interrupted, terminated } = EXIT
const ENDED = [hangup, interrupted, terminated]
const ALL = [done, failed, usage, nothingShown, planeMissing, thresholdCrossed, ...ENDED]

/**
 * @type {Record<string, { does: string, examples: [command: string, does: string][], statuses: (keyof typeof EXIT_MEANINGS)[] }>}
 */
export const HELP = {
  bench: {
    does: 'measure data planes, and report what they deliver and cost; balance: compute assignments to shards (takes --seed, --out, --json)',
    examples: [
      ['npm run bench -- --cpu 1', 'no mesh, Pipy and Envoy, each sidecar capped at 1 core'],
      ['npm run bench -- --planes pipy,pipy=./my-scripts --cpu 0.5', 'changed Pipy scripts against those of the kit'],
    ],
    statuses: ALL,
  },
  agree: {
    does: 'run an experiment on this machine and on its cluster, and say whether they agree',
    examples: [
      ['npm run agree -- --cpu 0.5', 'the default experiment on both targets'],
      ['npm run agree -- --profile quick --image pipy=registry/pipy:1.5', 'shorter, with an image of your own'],
    ],
    statuses: [done, failed, usage, planeMissing, ...ENDED],
  },
  plan: {
    does: 'print what bench would run, and how long it takes',
    examples: [
      ['npm run plan -- --cpu 1', 'the arms, the trials and the time of that run'],
      ['npm run plan -- rate-ladder --profile full', 'the same for another experiment'],
    ],
    statuses: [done, failed, usage, planeMissing],
  },
  size: {
    does: 'find and check the smallest CPU and memory limit that holds a load',
    examples: [
      [
        'npm run size -- --rate 500 --p99 20ms --node pi4 --reserve 0.5c,512m',
        'and how many such sidecars a node holds',
      ],
      ['npm run size -- -f services.yaml --format helm', 'limits for several services, to paste'],
    ],
    statuses: [done, failed, usage, nothingShown, planeMissing, ...ENDED],
  },
  claims: {
    does: 'compare published numbers with your runs',
    examples: [
      ['npm run claims -- results/RUN', 'each published claim, theirs and ours'],
      ['npm run claims -- results/RUN results/OTHER --json', 'by two runs, for a program'],
    ],
    statuses: [],
  },
  report: {
    does: 'print the report of a run; without a run, list all runs',
    examples: [
      ['npm run report', 'the runs of results/ and their answers'],
      ['npm run report -- results/RUN --format md', 'a run for a pull request'],
    ],
    statuses: [],
  },
  compare: {
    does: 'compare two runs, such as before and after a change',
    examples: [
      ['npm run compare -- results/OLD results/NEW', 'what changed between two runs'],
      [
        "npm run compare -- results/OLD results/NEW --threshold 'new/old cpuPerRequest <= 1.05'",
        'status 5 where CPU per request grew by more than 5 %',
      ],
    ],
    statuses: [done, failed, usage, nothingShown, thresholdCrossed],
  },
  lab: {
    does: 'count the instructions per request of changed Pipy scripts, and show where they go',
    examples: [
      ['npm run lab -- ./my-scripts', 'instructions per request of changed scripts, beside those of the kit'],
      [
        "npm run lab -- --threshold 'new/old instructions <= 1.01'",
        'status 5 where uncommitted changes take over 1 % more',
      ],
    ],
    statuses: ALL,
  },
  verify: {
    does: 'compute every number of a run again from its raw files',
    examples: [
      ['npm run verify -- results/RUN', 'compute every number again'],
      ['npm run --silent verify -- results/RUN && echo good', 'in a script'],
    ],
    statuses: [done, failed],
  },
  doctor: {
    does: 'check that this machine, or a cluster, can run the benchmark',
    examples: [
      ['npm run doctor', 'what a run on this machine needs'],
      ['npm run doctor -- --target kubernetes --context kind-kind', 'what a run on a cluster needs'],
    ],
    statuses: [done, failed],
  },
  parity: {
    does: 'try one data plane with the parity corpus, and list the rows that fall short',
    examples: [
      ['npm run parity -- haproxy', 'HAProxy and every row of the corpus'],
      ['npm run parity -- pipy=./my-scripts', 'a folder of Pipy scripts'],
    ],
    statuses: [done, failed, usage, planeMissing, ...ENDED],
  },
  images: {
    does: 'list the container images that a cluster needs',
    examples: [
      ['node src/cli.js images', 'what to load onto a node that reaches no registry'],
      ['node src/cli.js images --image pipy=registry/pipy:1.5', 'with an image of your own'],
    ],
    statuses: [],
  },
  cleanup: {
    does: 'remove processes, cgroups, keys and namespaces that killed runs left',
    examples: [
      ['npm run cleanup', 'remove processes, cgroups and files of killed runs'],
      ['npm run cleanup -- --target kubernetes', 'and their namespaces on the cluster'],
    ],
    statuses: [],
  },
}

/** @param {Command} program with all of its verbs */
export function addHelp(program) {
  for (const command of program.commands) {
    const { does, examples, statuses } = HELP[command.name()]
    command.description(does).addHelpText('after', `\n${renderExamples(examples)}${renderStatuses(statuses)}`)
  }
  program.addHelpText(
    'after',
    '\nFrom a clone, write npm run VERB -- OPTIONS. Start with: npm run doctor, then npm run bench -- --cpu 1\nOptions, examples and exit statuses of a verb: sidecar-bench VERB --help',
  )
}

/** @param {[command: string, does: string][]} examples */
function renderExamples(examples) {
  return ['Examples:', ...examples.flatMap(([command, does]) => [`  ${command}`, `      ${does}`])].join('\n')
}

/** @param {(keyof typeof EXIT_MEANINGS)[]} statuses */
function renderStatuses(statuses) {
  if (statuses.length === 0) return ''
  return ['\n\nExit statuses:', ...statuses.map(status => `  ${`${status}`.padEnd(4)} ${EXIT_MEANINGS[status]}`)].join(
    '\n',
  )
}
