/**
 * A web server on node:cluster whose workers share sessions, a cache and a rate limit in memory. `autocannon` loads it
 * while workers are killed and replaced. Run it after `npm run build`:
 *
 *     node dist/examples/cluster-sessions/main.js
 *     node dist/examples/cluster-sessions/main.js --requests 100000 --kills 20
 *
 * It prints how many requests were answered and cut off, how many sessions were lost, and how many tickets were handed
 * out. No session is lost, and exactly as many tickets are handed out as exist. The exit status is 1 if a session was
 * lost or the number of tickets is wrong. `--json` prints a report for programs.
 */
import process from 'node:process'
import { parseArgs } from 'node:util'
import { open } from 'aether-dsm'
import { RateLimiterAether } from 'aether-dsm/adapters/rate-limiter-flexible'
import autocannon from 'autocannon'
import { Crew } from './crew.ts'
import { limitOptions } from './terms.ts'
import { Visitor } from './visitor.ts'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    connections: { type: 'string', default: '10' },
    workers: { type: 'string', default: '3' },
    kills: { type: 'string', default: '5' },
    tickets: { type: 'string', default: '1000' },
    json: { type: 'boolean', default: false },
  },
})
const [requests, connections, workers, kills, tickets] = [
  values.requests,
  values.connections,
  values.workers,
  values.kills,
  values.tickets,
].map(Number) as [number, number, number, number, number]

// This process is a member of the space too, so the space survives even if every worker is killed.
await using space = await open(`cluster-sessions-${process.pid}`)
const crew = new Crew()
const url = await crew.start(workers, [space.name, String(tickets)])

const visitors: Visitor[] = []
let answered = 0

/**
 * Kills are spread evenly over the requests. Each hits the worker that has just answered, because it has more to do.
 */
function onAnswer(worker: number | undefined): void {
  answered += 1
  const due = (answered * (kills + 1)) / requests >= crew.killed + 1
  if (due && crew.killed < kills && worker !== undefined) crew.kill(worker)
}

const load = await autocannon({
  url,
  connections,
  amount: requests,
  // On a busy machine an answer may take long. After a timeout, the worker would still handle the request, at the same
  // time as the next request of that session.
  timeout: 300,
  setupClient: (client) => void visitors.push(new Visitor(client, onAnswer)),
})
for (const visitor of visitors) await visitor.ask(url)

const limiter = new RateLimiterAether({ ...limitOptions(tickets), storeClient: space.name })
const asked = (await limiter.get('tickets'))?.consumedPoints ?? 0
await limiter.close()
await crew.stop()

const sum = (of: (visitor: Visitor) => number): number => visitors.reduce((total, visitor) => total + of(visitor), 0)
const report = {
  answered,
  cut: sum(({ cut }) => cut),
  killed: crew.killed,
  started: crew.started,
  sessions: visitors.filter(({ cookie }) => cookie !== undefined).length,
  lost: visitors.flatMap(({ complaints }) => complaints),
  tickets: sum((visitor) => visitor.tickets),
  refusals: sum(({ refusals }) => refusals),
  asked,
  catalogues: new Set(visitors.flatMap((visitor) => [...visitor.catalogues])).size,
}

if (values.json) console.log(JSON.stringify(report))
else {
  const rate = Math.round(load.requests.average)
  console.log(
    `${report.answered} answers, about ${rate} per second; ${report.killed} kills cut off ${report.cut} requests`,
  )
  console.log(`${report.sessions} sessions, ${report.lost.length} lost`)
  console.log(`${report.tickets} of ${tickets} tickets handed out, ${report.refusals} requests refused`)
  console.log(`the catalogue was made by ${report.catalogues} of ${report.started} workers`)
}
for (const complaint of report.lost) console.error(complaint)
// If a request was cut off before the answer, its ticket may have been handed out or not.
const known = report.tickets + report.refusals
const isCounted = asked >= known && asked <= known + report.cut
const isExact = report.tickets <= tickets && report.tickets + report.cut >= Math.min(tickets, asked)
process.exitCode = report.lost.length === 0 && isCounted && isExact ? 0 : 1
