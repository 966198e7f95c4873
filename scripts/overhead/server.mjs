/**
 * The other end of paths.mjs: a server for each way, of which all are looked at in turn, so that who calls one of them
 * pays for the others in each way alike.
 */
import process from 'node:process'
import { setProfiling } from '../../dist/src/profiling/index.js'
import { createServer } from '../../dist/src/rpc/index.js'
import { endWithStarter } from './process.mjs'
import { isProfiled, shortCalls, waysFrom } from './service.mjs'

endWithStarter()
/** So many empty looks are more than the time between two calls. */
const IDLE_LOOKS = 4096
const parent = process.ppid
const servers = []
const ports = {}
let isResting = false

for (const way of waysFrom(Number(process.argv[2]))) {
  setProfiling(isProfiled(way))
  const server = createServer().serve(shortCalls, {
    echo: (bytes) => bytes,
    sum: ({ count, price }) => count * price,
    rest: () => {
      isResting = true
    },
  })
  servers.push(server)
  ports[way] = (await server.listen({ device: 'shm0', address: '127.0.0.1' })).port
}

function look() {
  for (let idle = 0; idle < IDLE_LOOKS && !isResting; ) {
    let taken = 0
    for (const server of servers) taken += server.poll()
    idle = taken === 0 ? idle + 1 : 0
  }
  if (process.ppid !== parent) process.exit(0)
  if (!isResting) setImmediate(look)
}

process.on('message', () => {
  isResting = false
  setImmediate(look)
})
process.send(ports)
