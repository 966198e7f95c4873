import { Access, CompletionOpcode, CompletionStatus } from '../../../verbs/index.ts'
import { type ConformanceCase, rule } from '../case.ts'
import { ALL_ACCESS, assert, type Context, type End, Opcode, Success } from '../context.ts'
import type { MemoryFacts } from '../player-data.ts'

export const BINDABLE: number = ALL_ACCESS | Access.MemoryWindowBind
export const READ_WRITE: number = Access.RemoteRead | Access.RemoteWrite
export const BIND = 'ibv_bind_mw(3); pyverbs test_mw'
export const CHECKS = 'rxe_mw.c rxe_check_bind_mw, after IB specification 10.6.7'
export const LOOKUP = 'rxe_mw.c rxe_lookup_mw, after IB specification 10.6.7'
export const MemoryWindowBindError: number = CompletionStatus.MemoryWindowBindError
export const RemoteAccessError: number = CompletionStatus.RemoteAccessError
export const RemoteInvalidRequest: number = CompletionStatus.RemoteInvalidRequest
CompletionStatus
export const NO_SUCH_OPERATION: number = CompletionStatus.LocalQueuePairOperationError
export const WINDOW: { readonly offset: number; readonly length: number } = { offset: 256, length: 64 }

export interface Bound {
  readonly window: number
  readonly key: number
}

export type Bind = {
  readonly type?: 1 | 2
  readonly access?: number
  readonly offset?: number
  readonly length?: number
  readonly keyTag?: number
  readonly memory?: MemoryFacts
}

/** A connection whose second end has memory for windows. The peer has no key of that memory. */
export async function ends(
  context: Context,
  access: number = Access.LocalWrite | Access.MemoryWindowBind,
): Promise<[End, End]> {
  const [a, b] = await context.connected()
  const memory = await b.player.allocate(b.domain, 4096, access)
  return [a, b.withMemory(memory)]
}

export async function bound(owner: End, bind: Bind = {}): Promise<Bound> {
  const { type = 1, access = READ_WRITE, memory = owner.memory, ...fields } = bind
  const { handle } = await owner.player.window(owner.domain, type)
  const key = await rebound(owner, handle, { ...WINDOW, access, memory: memory.handle, ...fields })
  return { window: handle, key }
}

export async function rebound(
  owner: End,
  window: number,
  bind: { access: number; memory?: number; offset?: number; length?: number; keyTag?: number },
): Promise<number> {
  const key = await owner.player.bind(owner.pair.handle, { id: 90, window, ...bind })
  const completion = await owner.sentWith(Success, 90)
  assert.equal(completion.opcode, CompletionOpcode.BindMemoryWindow)
  return key
}

/** A bind that is posted, and fails. */
export async function failsToBind(owner: End, bind: Bind): Promise<void> {
  const { type = 1, access = READ_WRITE, memory = owner.memory, ...fields } = bind
  const { handle } = await owner.player.window(owner.domain, type)
  await owner.player.bind(owner.pair.handle, {
    id: 91,
    window: handle,
    access,
    memory: memory.handle,
    ...WINDOW,
    ...fields,
  })
  await owner.sentWith(MemoryWindowBindError, 91)
  assert.equal(await owner.player.state(owner.pair.handle), 6)
}

export function write(a: End, b: End, key: number, offset: number, length = 8, id = 1): Promise<void> {
  const remote = { address: b.memory.address + offset, key }
  return a.post({ id, opcode: Opcode.Write, local: [a.segment(0, length)], remote })
}

export function read(a: End, b: End, key: number, offset: number, length = 8, id = 1): Promise<void> {
  const remote = { address: b.memory.address + offset, key }
  return a.post({ id, opcode: Opcode.Read, local: [a.segment(512, length)], remote })
}

export async function writes(a: End, b: End, key: number, status: number): Promise<void> {
  await write(a, b, key, WINDOW.offset)
  await a.sentWith(status, 1)
}

/** Connect one more pair, in the same protection domains. */
export async function another(context: Context, a: End, b: End): Promise<[End, End]> {
  const c = await context.end(0, { within: a })
  const d = await context.end(1, { within: b })
  await c.connect(d.pair.endpoint)
  await d.connect(c.pair.endpoint)
  return [c, d]
}

/** Operations by `key` at the limits of its rights, each on a connection of its own if it must fail. */
export function refused(
  name: string,
  source: string,
  bind: Bind,
  attempt: (a: End, b: End, key: number) => Promise<void>,
): ConformanceCase {
  return rule(name, source, async (context) => {
    const [a, b] = await ends(context)
    const { key } = await bound(b, bind)
    await attempt(a, b, key)
    await a.sentWith(RemoteAccessError, 1)
    await b.untilState(6)
  })
}
