// The same work as loop.cc, through the package. Prints a JSON object of nanoseconds of processor time, of the second
// time: by then all is compiled.
import { CompletionBatch, openDevice } from '../../dist/src/verbs/index.js'

const [window, turns] = process.argv.slice(2).map(Number)
const device = openDevice('standin0')
const domain = device.createProtectionDomain()
const queue = device.createCompletionQueue({ depth: 2 * window })
const pair = domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue, maxSendRequests: window })
pair.connect(pair.endpoint)
const fields = { local: { address: 0x1000, length: 8, key: 1 }, remote: { address: 0x2000, key: 1 } }
const silent = pair.prepareWrite({ ...fields, signaled: false })
const signaled = pair.prepareWrite(fields)
const silentList = Array.from({ length: window }, () => silent)
const signaledList = Array.from({ length: window }, () => signaled)
const batch = new CompletionBatch(window)

function must(ok) {
  if (!ok) throw new Error('the stand-in did not do its part')
}

function postOne(request, turn) {
  request.remoteAddress = 0x2000 + turn
  request.post(turn)
}

const bodies = {
  post: [turns, (turn) => postOne(silent, turn)],
  listed: [turns / window, () => pair.postSendList(silentList)],
  empty: [turns, () => must(queue.poll(batch) === 0)],
  write: [
    turns,
    (turn) => {
      postOne(signaled, turn)
      must(queue.poll(batch) === 1)
    },
  ],
  batched: [
    turns / window,
    () => {
      pair.postSendList(signaledList)
      must(queue.poll(batch) === window)
    },
  ],
}

function nsPerTurn(count, body) {
  const start = process.cpuUsage()
  for (let turn = 0; turn < count; turn += 1) body(turn)
  const { user, system } = process.cpuUsage(start)
  return (1000 * (user + system)) / turns
}

const play = () =>
  Object.fromEntries(Object.entries(bodies).map(([name, [count, body]]) => [name, nsPerTurn(count, body)]))
play()
console.log(JSON.stringify(play()))
device.close()
