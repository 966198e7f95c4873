import {
  Attribute,
  type AttributeName,
  findTransition,
  type QueuePairAttributes,
  QueuePairState,
  stateNames,
} from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { ALL_ACCESS, assert, type Context, type End, receiveAttributes, sendAttributes } from '../context.ts'

const S = QueuePairState
/** States in which an RC queue pair can be; SQE is for unreliable types only. */
const reachable = [S.Reset, S.Init, S.ReadyToReceive, S.ReadyToSend, S.SendQueueDrained, S.Error] as const
const MODIFY = 'ibv_modify_qp(3); kernel qp_state_table'

/** Bring a fresh end to `state`. */
async function reach(end: End, other: End, state: number): Promise<void> {
  if (state === S.Reset) return
  await end.init()
  if (state === S.Init) return
  await end.readyToReceive(other.pair.endpoint)
  if (state === S.ReadyToReceive) return
  await end.readyToSend()
  if (state === S.SendQueueDrained) await end.modify({ state: S.SendQueueDrained })
  if (state === S.Error) await end.modify({ state: S.Error })
}

/** Values for every attribute that an RC transition can ask for. */
function values(other: End, psn: number): QueuePairAttributes {
  return {
    ...receiveAttributes(other.pair.endpoint),
    ...sendAttributes(psn),
    partitionKeyIndex: 0,
    port: 1,
    access: ALL_ACCESS,
  }
}

function select(all: QueuePairAttributes, mask: number): QueuePairAttributes {
  const chosen = Object.entries(all).filter(([name]) => (mask & Attribute[name as AttributeName]) !== 0)
  return Object.fromEntries(chosen) as QueuePairAttributes
}

async function ends(context: Context): Promise<readonly [End, End]> {
  return [await context.end(0), await context.end(1)]
}

function legal(from: number, to: number, required: number): ConformanceCase {
  return rule(`${stateNames[from]} -> ${stateNames[to]} is carried out`, MODIFY, async (context) => {
    const [a, b] = await ends(context)
    await reach(a, b, from)
    await a.modify({ ...select(values(b, a.pair.endpoint.psn), required), state: to as QueuePairState })
    assert.equal(await a.player.state(a.pair.handle), to)
  })
}

function illegal(from: number, to: number): ConformanceCase {
  return rule(`${stateNames[from]} -> ${stateNames[to]} is refused and changes nothing`, MODIFY, async (context) => {
    const [a, b] = await ends(context)
    await reach(a, b, from)
    const before = await a.player.query(a.pair.handle)
    await context.refused('EINVAL', a.modify({ state: to as QueuePairState }))
    assert.deepEqual(await a.player.query(a.pair.handle), before)
  })
}

function missing(from: number, to: number, name: AttributeName): ConformanceCase {
  return rule(
    `${stateNames[from]} -> ${stateNames[to]} without ${name} is refused and names it`,
    MODIFY,
    async (context) => {
      const [a, b] = await ends(context)
      await reach(a, b, from)
      const required = findTransition('rc', from, to)?.required ?? 0
      const given = select(values(b, a.pair.endpoint.psn), required & ~Attribute[name])
      const error = await context.refused('EINVAL', a.modify({ ...given, state: to as QueuePairState }))
      assert.deepEqual(error.missing, [name])
      assert.equal(await a.player.state(a.pair.handle), from)
    },
  )
}

function everyPair(): ConformanceCase[] {
  return reachable.flatMap((from) =>
    [...reachable, S.SendQueueError].map((to) => {
      const transition = findTransition('rc', from, to)
      return transition === undefined ? illegal(from, to) : legal(from, to, transition.required)
    }),
  )
}

const requiredNames: readonly (readonly [number, number, AttributeName])[] = [
  [S.Reset, S.Init, 'partitionKeyIndex'],
  [S.Reset, S.Init, 'port'],
  [S.Reset, S.Init, 'access'],
  [S.Init, S.ReadyToReceive, 'addressVector'],
  [S.Init, S.ReadyToReceive, 'pathMtu'],
  [S.Init, S.ReadyToReceive, 'destinationQueuePair'],
  [S.Init, S.ReadyToReceive, 'receivePsn'],
  [S.Init, S.ReadyToReceive, 'maxDestinationReadAtomic'],
  [S.Init, S.ReadyToReceive, 'minRnrTimer'],
  [S.ReadyToReceive, S.ReadyToSend, 'sendPsn'],
  [S.ReadyToReceive, S.ReadyToSend, 'timeout'],
  [S.ReadyToReceive, S.ReadyToSend, 'retryCount'],
  [S.ReadyToReceive, S.ReadyToSend, 'rnrRetry'],
  [S.ReadyToReceive, S.ReadyToSend, 'maxReadAtomic'],
]

/** The state machine: every pair of states, and every required attribute. */
export const transitionCases: readonly ConformanceCase[] = [
  ...everyPair(),
  ...requiredNames.map(([from, to, name]) => missing(from, to, name)),
  rule('an attribute that a transition does not take is refused and named', MODIFY, async (context) => {
    const [a] = await ends(context)
    const error = await context.refused(
      'EINVAL',
      a.modify({ state: S.Init, partitionKeyIndex: 0, port: 1, access: ALL_ACCESS, timeout: 14 }),
    )
    assert.deepEqual(error.extra, ['timeout'])
  }),
  rule('a wrong currentState is refused', 'ibv_modify_qp(3), IBV_QP_CUR_STATE', async (context) => {
    const [a, b] = await ends(context)
    await reach(a, b, S.ReadyToSend)
    await context.refused('EINVAL', a.modify({ state: S.ReadyToSend, currentState: S.SendQueueDrained }))
  }),
  rule('a port that does not exist is refused', 'ibv_modify_qp(3); pyverbs test_qp', async (context) => {
    const [a] = await ends(context)
    await context.refused('EINVAL', a.modify({ state: S.Init, partitionKeyIndex: 0, port: 99, access: 0 }))
    assert.equal(await a.player.state(a.pair.handle), S.Reset)
  }),
  rule('query gives back what modify set', 'ibv_query_qp(3)', async (context) => {
    const [a, b] = await context.connected()
    const attributes = await a.player.query(a.pair.handle)
    assert.equal(attributes.state, S.ReadyToSend)
    assert.equal(attributes.destinationQueuePair, b.pair.number)
    assert.equal(attributes.sendPsn, a.pair.endpoint.psn)
    assert.equal(attributes.timeout, 14)
  }),
  rule('a fresh queue pair is in RESET', 'ibv_create_qp(3); pyverbs test_qp', async (context) => {
    const [a] = await ends(context)
    assert.equal(await a.player.state(a.pair.handle), S.Reset)
  }),
  rule(
    'RTR towards a gid that nobody has is refused',
    'ibv_modify_qp(3) ETIMEDOUT (address resolution)',
    async (context) => {
      const [a, b] = await ends(context)
      await a.init()
      const gid = b.pair.endpoint.gid ^ 0xffffn
      await context.refused('ETIMEDOUT', a.readyToReceive({ ...b.pair.endpoint, gid }))
      assert.equal(await a.player.state(a.pair.handle), S.Init)
    },
  ),
]
