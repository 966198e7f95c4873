import {
  Attribute,
  type AttributeName,
  attributeNames,
  findTransition,
  type QueuePairAttributes,
  QueuePairState,
  type QueuePairType,
  stateNames,
  transitions,
} from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import {
  ALL_ACCESS,
  assert,
  type Context,
  type End,
  QUEUE_KEY,
  receiveAttributes,
  selectAttributes,
  sendAttributes,
} from '../context.ts'

const S = QueuePairState
const others: readonly QueuePairType[] = ['uc', 'ud', 'xrc-send', 'xrc-receive', 'dci', 'dct']
const everyState = [
  S.Reset,
  S.Init,
  S.ReadyToReceive,
  S.ReadyToSend,
  S.SendQueueDrained,
  S.SendQueueError,
  S.Error,
] as const
const MODIFY = 'ibv_modify_qp(3); kernel qp_state_table'

/** The man page or source that defines a type's transitions. */
function sourceOf(type: QueuePairType): string {
  return type === 'dci' || type === 'dct' ? 'kernel mlx5 modify_dci_qp_is_ok, mlx5_ib_modify_dct' : MODIFY
}

/**
 * States that a type can be brought to, except SQE: whether a failed send leads there or to ERR depends on the device.
 */
function reachable(type: QueuePairType): readonly number[] {
  const into = new Set(transitions[type].map((each) => each.to as number))
  return everyState.filter((state) => state === S.Reset || state === S.Error || into.has(state))
}

/** Bring a new end to `state`. */
async function reach(end: End, other: End, state: number): Promise<void> {
  if (state === S.Reset) return
  await end.init()
  if (state === S.Init) return
  if (state === S.Error) return end.modify({ state: S.Error })
  await end.readyToReceive(other.pair.endpoint)
  if (state === S.ReadyToReceive) return
  await end.readyToSend()
  if (state === S.SendQueueDrained) await end.modify({ state: S.SendQueueDrained })
}

/** Values for every attribute that a transition can require. */
function values(other: End, psn: number): QueuePairAttributes {
  return {
    ...receiveAttributes(other.pair.endpoint),
    ...sendAttributes(psn),
    partitionKeyIndex: 0,
    port: 1,
    queueKey: QUEUE_KEY,
    access: ALL_ACCESS,
  }
}

async function ends(context: Context, type: QueuePairType = 'rc'): Promise<readonly [End, End]> {
  return [await context.endOf(type, 0), await context.end(1)]
}

function titleOf(type: QueuePairType, from: number, to: number): string {
  return `${type === 'rc' ? '' : `${type}: `}${stateNames[from]} -> ${stateNames[to]}`
}

function legal(type: QueuePairType, from: number, to: number, required: number): ConformanceCase {
  return rule(`${titleOf(type, from, to)} is carried out`, sourceOf(type), async (context) => {
    const [a, b] = await ends(context, type)
    await reach(a, b, from)
    const given = selectAttributes(values(b, a.pair.endpoint.psn), required)
    await a.modify({ ...given, state: to as QueuePairState })
    assert.equal(await a.player.state(a.pair.handle), to)
  })
}

function illegal(type: QueuePairType, from: number, to: number): ConformanceCase {
  return rule(`${titleOf(type, from, to)} is refused and changes nothing`, sourceOf(type), async (context) => {
    const [a, b] = await ends(context, type)
    await reach(a, b, from)
    const before = await a.player.query(a.pair.handle)
    await context.refused('EINVAL', a.modify({ state: to as QueuePairState }))
    assert.deepEqual(await a.player.query(a.pair.handle), before)
  })
}

function missing(type: QueuePairType, from: number, to: number, name: AttributeName): ConformanceCase {
  const title = `${titleOf(type, from, to)} without ${name} is refused and names it`
  return rule(title, sourceOf(type), async (context) => {
    const [a, b] = await ends(context, type)
    await reach(a, b, from)
    const required = findTransition(type, from, to)?.required ?? 0
    const given = selectAttributes(values(b, a.pair.endpoint.psn), required & ~Attribute[name])
    const error = await context.refused('EINVAL', a.modify({ ...given, state: to as QueuePairState }))
    assert.deepEqual(error.missing, [name])
    assert.equal(await a.player.state(a.pair.handle), from)
  })
}

function everyPair(type: QueuePairType): ConformanceCase[] {
  return reachable(type).flatMap((from) =>
    everyState.map((to) => {
      const transition = findTransition(type, from, to)
      return transition === undefined ? illegal(type, from, to) : legal(type, from, to, transition.required)
    }),
  )
}

/** For each attribute that a transition of a type requires, a case that leaves it out. */
function everyRequired(type: QueuePairType): ConformanceCase[] {
  return transitions[type].flatMap(({ from, to, required }) =>
    attributeNames(required).map((name) => missing(type, from, to, name)),
  )
}

/** The state machines of the other types: every pair of states, and every required attribute. */
export const otherTransitionCases: readonly ConformanceCase[] = [
  ...others.flatMap(everyPair),
  ...others.flatMap(everyRequired),
]

/** The state machine of reliable connections: every pair of states, and every required attribute. */
export const transitionCases: readonly ConformanceCase[] = [
  ...everyPair('rc'),
  ...everyRequired('rc'),
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
    'RTR towards a gid that does not exist is refused',
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
