import process from 'node:process'
import { SpaceStructures } from '../dashboard/index.ts'
import { open } from '../dsm/index.ts'
import { ArgumentError, nearestWord } from '../native/index.ts'
import { JOB_STATES, type JobState, openStructures, type SharedJobs, type Structures } from '../structures/index.ts'
import { type Command, ExitCode } from './command.ts'
import { jobsTable, queuesTable } from './jobs-table.ts'
import { integerOption, parseOptions, wordOption } from './options.ts'
import { Screen } from './output/screen.ts'
import { attachTo, chooseSpace } from './space-choice.ts'
import { UsageError } from './usage-error.ts'

const table = {
  state: { type: 'string' },
  limit: { type: 'string', default: '20' },
  region: { type: 'string', default: 'structures' },
  json: { type: 'boolean', default: false },
} as const

const help = `Usage: aether jobs [SPACE] [options]
       aether jobs SPACE QUEUE [options]
       aether jobs SPACE QUEUE ACTION [ID | STATE]

Lists the job queues of a running space of yours on this machine: how many jobs wait, are delayed, active, completed or
failed. With QUEUE it lists jobs of that queue. With ACTION it changes something:

  retry ID        try a failed or completed job again, or a delayed one now
  retry failed    the same for all failed jobs
  remove ID       remove a job, whatever its state
  clear STATE     remove all jobs that are waiting, delayed, active, completed or failed
  drain           remove all jobs that wait or are delayed
  pause, resume   let no process take jobs, and let them again

It is a member of the space while it runs. Without SPACE it shows the only running space.

Options:
  --state STATE     only jobs that are waiting, delayed, active, completed or failed
  --limit N         the most jobs to list (default 20)
  --region REGION   the region of the structures (default structures)
  --json            print one JSON document

Exit status: 0 done; 1 there is no such space, queue or job; 2 the command line is invalid.

Examples:
  aether jobs
  aether jobs shop mails --state failed
  aether jobs shop mails retry failed
  aether jobs shop mails --json | jq '.jobs[].failure.message'`

const ACTIONS = ['retry', 'remove', 'clear', 'drain', 'pause', 'resume'] as const
/** Actions that are about a job or a state. */
const WITH_OBJECT: readonly string[] = ['retry', 'remove', 'clear']

/** `aether jobs`. */
export const jobsCommand: Command = {
  help,
  options: table,
  operands: ['space'],

  async run(args) {
    const { values, positionals } = parseOptions('jobs', args, table, 4)
    const limit = integerOption('jobs', '--limit', values.limit, 1, 1_000_000)
    const state = values.state === undefined ? undefined : stateOption(values.state)
    const [named, queue, action, object] = positionals
    checkAction(action, object)
    const name = chooseSpace('jobs', named)
    // To join a space that does not run would make it.
    using _running = attachTo(name, SpaceStructures.attach)
    await using space = await open(name)
    if (!space.regions().some((region) => region.name === values.region))
      throw new ArgumentError('--region', `space '${name}' has no structures in a region '${values.region}'`)
    await using structures = await openStructures(space, { region: values.region })
    if (queue === undefined) await listQueues(name, structures, values.json)
    else await inQueue(jobsOf(structures, name, queue), { action, object, state, limit, json: values.json })
    return ExitCode.Done
  },
}

interface Request {
  readonly action: string | undefined
  readonly object: string | undefined
  readonly state: JobState | undefined
  readonly limit: number
  readonly json: boolean
}

function stateOption(text: string): JobState {
  return wordOption('jobs', '--state', text, JOB_STATES)
}

function checkAction(action: string | undefined, object: string | undefined): void {
  if (action === undefined) return
  wordOption('jobs', 'ACTION', action, ACTIONS)
  const wants = WITH_OBJECT.includes(action)
  if (wants && object === undefined)
    throw new UsageError(`${action} needs ${action === 'clear' ? 'a state' : 'the id of a job'}`, 'jobs')
  if (!wants && object !== undefined) throw new UsageError(`'${object}' is one argument too many`, 'jobs')
  if (action === 'clear') wordOption('jobs', 'STATE', object!, JOB_STATES)
}

function namesOf(structures: Structures): readonly string[] {
  return structures
    .list()
    .filter(({ kind }) => kind === 'jobs')
    .map(({ name }) => name)
}

function jobsOf(structures: Structures, space: string, queue: string): SharedJobs<unknown> {
  const names = namesOf(structures)
  if (names.includes(queue)) return structures.jobsAsTheyAre(queue)
  const near = nearestWord(queue, names)
  const there = names.length === 0 ? 'it has none' : `there are ${names.join(', ')}`
  const advice = near === undefined ? there : `did you mean '${near}'?`
  throw new ArgumentError('QUEUE', `there is no job queue '${queue}' in space '${space}'; ${advice}`)
}

async function listQueues(space: string, structures: Structures, json: boolean): Promise<void> {
  const queues = await Promise.all(
    namesOf(structures).map(async (name) => {
      const jobs = structures.jobsAsTheyAre(name)
      return { name, isPaused: jobs.isPaused, ...(await jobs.counts()), schedules: (await jobs.schedules()).length }
    }),
  )
  if (json) process.stdout.write(`${JSON.stringify({ space, queues }, undefined, 2)}\n`)
  else if (queues.length > 0) queuesTable(queues, new Screen(process.stdout))
  else process.stdout.write(`space '${space}' has no job queues; a program makes one by 'await shared.jobs("mails")'\n`)
}

async function inQueue(jobs: SharedJobs<unknown>, { action, object, state, limit, json }: Request): Promise<void> {
  if (action !== undefined) {
    process.stdout.write(`${await act(jobs, action, object ?? '')}\n`)
    return
  }
  const found = await jobs.list({ limit, ...(state && { state }) })
  if (json) {
    const schedules = await jobs.schedules()
    process.stdout.write(`${JSON.stringify({ queue: jobs.name, jobs: found, schedules }, undefined, 2)}\n`)
  } else if (found.length > 0) jobsTable(found, new Screen(process.stdout))
  else process.stdout.write(`'${jobs.name}' has no ${state === undefined ? '' : `${state} `}jobs\n`)
}

/** Do it, and say what was done. @throws ArgumentError if there is no such job */
async function act(jobs: SharedJobs<unknown>, action: string, object: string): Promise<string> {
  switch (action) {
    case 'pause':
      await jobs.pause()
      return `'${jobs.name}' is paused`
    case 'resume':
      await jobs.resume()
      return `'${jobs.name}' goes on`
    case 'drain':
      return `${await jobs.drain()} jobs removed`
    case 'clear':
      return `${await jobs.clear(object as JobState)} jobs removed`
    case 'remove':
      if (await jobs.remove(object)) return `job ${object} removed`
      break
    default:
      if (object === 'failed') return `${await retryFailed(jobs)} jobs are tried again`
      if (await jobs.retry(object)) return `job ${object} is tried again`
  }
  throw new ArgumentError('ID', `there is no job ${object} in '${jobs.name}' that ${whichFor(action)}`)
}

function whichFor(action: string): string {
  return action === 'retry' ? 'has failed, completed or is delayed' : 'could be removed'
}

async function retryFailed(jobs: SharedJobs<unknown>): Promise<number> {
  let retried = 0
  for (const { id } of await jobs.list({ state: 'failed', limit: Number.POSITIVE_INFINITY }))
    if (await jobs.retry(id)) retried += 1
  return retried
}
