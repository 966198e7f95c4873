/**
 * Ping-pong over verbs. The other end is rdma-core's `ibv_rc_pingpong`, `ibv_uc_pingpong`, `ibv_ud_pingpong` or
 * `ibv_srq_pingpong`, or this program again. Options have the same names as theirs. Without a host it is the server.
 * Run it after `npm run build`:
 *
 *     ibv_rc_pingpong -d rxe0 -g 1                                  # on host a
 *     node dist/examples/pingpong/main.js -d rxe0 -g 1 a            # on host b
 *
 * No RDMA device is needed for two processes on one machine, which use the software device `shm0`:
 *
 *     node dist/examples/pingpong/main.js                           # in one terminal
 *     node dist/examples/pingpong/main.js localhost                 # in another one
 *
 * The server prints the port on which it listens. At the end, both print how many messages they sent and received, and
 * the time in seconds, as JSON.
 */
import { parseArgs } from 'node:util'
import { openDevice } from 'aether-dsm/verbs'
import { play } from './player.ts'
import type { PingpongType } from './table.ts'

const types: readonly PingpongType[] = ['rc', 'uc', 'ud', 'srq']

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    type: { type: 'string', default: 'rc' },
    'ib-dev': { type: 'string', short: 'd', default: 'shm0' },
    'gid-idx': { type: 'string', short: 'g' },
    port: { type: 'string', short: 'p', default: '18515' },
    size: { type: 'string', short: 's', default: '4096' },
    mtu: { type: 'string', short: 'm', default: '1024' },
    'rx-depth': { type: 'string', short: 'r', default: '500' },
    iters: { type: 'string', short: 'n', default: '1000' },
    'num-qp': { type: 'string', short: 'q', default: '16' },
    events: { type: 'boolean', short: 'e', default: false },
    /**
     * Send bytes that differ from message to message, and compare them with those that come back. The other end must
     * echo, as rdma-core's programs do.
     */
    check: { type: 'boolean', short: 'c', default: false },
    'timeout-s': { type: 'string', default: '60' },
  },
})

function typeOf(text: string): PingpongType {
  const type = types.find((each) => each === text)
  if (type === undefined) throw new Error(`--type must be ${types.join(' or ')}, not '${text}'`)
  return type
}

const type = typeOf(values.type)
using device = openDevice(values['ib-dev'])
const result = await play(device, {
  type,
  pairs: type === 'srq' ? Number(values['num-qp']) : 1,
  server: positionals[0],
  port: Number(values.port),
  sizeBytes: Number(values.size),
  pathMtu: Number(values.mtu),
  receiveDepth: Number(values['rx-depth']),
  iterations: Number(values.iters),
  events: values.events,
  check: values.check,
  signal: AbortSignal.timeout(Number(values['timeout-s']) * 1000),
  onListening: (port) => console.log(`listening on port ${port}`),
})
console.log(JSON.stringify(result))
