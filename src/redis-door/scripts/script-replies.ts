import { bytesOf, type FaultReply, type Reply } from '../../index-service/index.ts'
import { type DoorReply, NO_REPLY, NULL_ARRAY, type TaggedReply } from '../protocol/door-reply.ts'
import { doubleText, type ProtocolVersion } from '../protocol/reply-writer.ts'
import { type Lua, listAt } from './lua/lua.ts'
import { LuaType, type Pointer } from './lua/wasm.ts'

/** Pushes answers of commands as scripts see them, in a version of RESP. */
export class ReplyPusher {
  readonly #lua: Lua

  constructor(lua: Lua) {
    this.#lua = lua
  }

  push(state: Pointer, reply: DoorReply, version: ProtocolVersion): void {
    const lua = this.#lua
    if (reply === null || reply === NULL_ARRAY || reply === NO_REPLY) this.#nothing(state, version)
    else if (reply instanceof Uint8Array) lua.pushBytes(state, reply)
    else if (typeof reply === 'number' || typeof reply === 'bigint') lua.pushNumber(state, Number(reply))
    else if (typeof reply === 'string') this.#field(state, 'ok', bytesOf(reply))
    else if (Array.isArray(reply)) this.#list(state, reply as readonly DoorReply[], version)
    else if (reply instanceof Map) this.#map(state, [...reply].flat() as Reply[], version)
    else if (reply instanceof Set) this.#set(state, [...reply], version)
    else
      this.#tagged(
        state,
        reply as Exclude<typeof reply, readonly Reply[] | ReadonlyMap<Reply, Reply> | ReadonlySet<Reply>>,
        version,
      )
  }

  #nothing(state: Pointer, version: ProtocolVersion): void {
    if (version === 3) this.#lua.pushNil(state)
    else this.#lua.pushTruth(state, false)
  }

  #tagged(state: Pointer, reply: TaggedReply, version: ProtocolVersion): void {
    const lua = this.#lua
    if ('fault' in reply) pushFault(lua, state, reply)
    else if ('double' in reply) this.#double(state, reply.double, version)
    else if ('pairs' in reply) this.#list(state, version === 2 ? reply.pairs : inTwos(reply.pairs), version)
    else if ('byKey' in reply) {
      if (version === 2) this.#list(state, inTwos(reply.byKey), version)
      else this.#map(state, reply.byKey, version)
    } else if ('verbatim' in reply) lua.pushBytes(state, bytesOf(reply.verbatim))
    else if ('formatted' in reply) lua.pushBytes(state, reply.formatted)
    else if ('bigNumber' in reply) lua.pushText(state, reply.bigNumber)
    else if ('truth' in reply) {
      if (version === 3) lua.pushTruth(state, reply.truth)
      else lua.pushNumber(state, Number(reply.truth))
    } else if ('table' in reply) this.#map(state, reply.table, version)
    else this.#list(state, 'push' in reply ? reply.push : reply.list, version)
  }

  #field(state: Pointer, name: string, bytes: Uint8Array): void {
    const lua = this.#lua
    lua.newTable(state, 0, 1)
    lua.pushBytes(state, bytes)
    lua.setField(state, -2, name)
  }

  #double(state: Pointer, value: number, version: ProtocolVersion): void {
    const lua = this.#lua
    if (version === 2) {
      lua.pushText(state, doubleText(value))
      return
    }
    lua.newTable(state, 0, 1)
    lua.pushNumber(state, value)
    lua.setField(state, -2, 'double')
  }

  #list(state: Pointer, replies: readonly DoorReply[], version: ProtocolVersion): void {
    const lua = this.#lua
    lua.newTable(state, replies.length)
    for (const [at, reply] of replies.entries()) {
      this.push(state, reply, version)
      lua.setAt(state, -2, at + 1)
    }
  }

  #map(state: Pointer, flat: readonly DoorReply[], version: ProtocolVersion): void {
    if (version === 2) {
      this.#list(state, flat, version)
      return
    }
    const lua = this.#lua
    lua.newTable(state, 0, 1)
    lua.newTable(state, 0, flat.length / 2)
    for (let at = 0; at < flat.length; at += 2) {
      this.push(state, flat[at]!, version)
      this.push(state, flat[at + 1]!, version)
      lua.setPair(state, -3)
    }
    lua.setField(state, -2, 'map')
  }

  #set(state: Pointer, members: readonly Reply[], version: ProtocolVersion): void {
    if (version === 2) {
      this.#list(state, members, version)
      return
    }
    const lua = this.#lua
    lua.newTable(state, 0, 1)
    lua.newTable(state, 0, members.length)
    for (const member of members) {
      this.push(state, member, version)
      lua.pushTruth(state, true)
      lua.setPair(state, -3)
    }
    lua.setField(state, -2, 'set')
  }
}

/** What a script sees of an error. */
export function pushFault(lua: Lua, state: Pointer, fault: FaultReply): void {
  lua.newTable(state, 0, 2)
  lua.pushText(state, faultText(fault))
  lua.setField(state, -2, 'err')
  if (!('isCounted' in fault)) return
  lua.pushTruth(state, true)
  lua.setField(state, -2, COUNTED)
}

/** The field of an error by which Redis knows that it is counted. Scripts can see it. */
const COUNTED = 'ignore_error_stats_update'

/** What the table on top of the stack says, if it is that of an error that was counted already. */
export function countedAt(lua: Lua, state: Pointer, fault: FaultReply): DoorReply {
  lua.getField(state, -1, COUNTED)
  const isCounted = lua.typeAt(state, -1) === LuaType.Boolean && lua.truthAt(state, -1)
  lua.pop(state, 1)
  return isCounted ? { ...fault, isCounted: true } : fault
}

function faultText({ fault, message }: FaultReply): string {
  return `${fault} ${message}`
}

function inTwos(flat: readonly Reply[]): readonly Reply[] {
  return Array.from({ length: flat.length / 2 }, (_, at) => flat.slice(at * 2, at * 2 + 2))
}

/** Of a table that a script answers with, deeper ones are not looked at. */
const DEPTH_MAX = 1000
const FORMAT_LENGTH = 3

/** What a script answers with, on top of the stack, as an answer to a client. `version`: what the script has chosen. */
export function replyAt(lua: Lua, state: Pointer, version: ProtocolVersion, depth: number = 0): DoorReply {
  switch (lua.typeAt(state, -1)) {
    case LuaType.String:
      return lua.bytesAt(state, -1)
    case LuaType.Number:
      return integerOf(lua.numberAt(state, -1))
    case LuaType.Boolean: {
      const truth = lua.truthAt(state, -1)
      return version === 3 ? { truth } : truth ? 1 : null
    }
    case LuaType.Table:
      if (depth > DEPTH_MAX) return { fault: 'ERR', message: 'reached lua stack limit' }
      return tableAt(lua, state, version, depth + 1)
    default:
      return null
  }
}

/** As C converts it to an integer of 64 bits. */
function integerOf(value: number): number | bigint {
  if (Number.isSafeInteger(Math.trunc(value))) return Math.trunc(value)
  if (!(Math.abs(value) < 2 ** 63)) return -(2n ** 63n)
  return BigInt(Math.trunc(value))
}

function tableAt(lua: Lua, state: Pointer, version: ProtocolVersion, depth: number): DoorReply {
  lua.room(state)
  const table = lua.top(state)
  const fault = textField(lua, state, 'err')
  if (fault !== undefined) return countedAt(lua, state, faultOfText(fault))
  const status = textField(lua, state, 'ok')
  if (status !== undefined) return status.replace(/[\r\n]/g, ' ')
  lua.getField(state, table, 'double')
  const isDouble = lua.typeAt(state, -1) === LuaType.Number
  const double = lua.numberAt(state, -1)
  lua.pop(state, 1)
  if (isDouble) return { double }
  const map = inner(lua, state, 'map', (at) => pairsAt(lua, state, at, version, depth))
  if (map !== undefined) return { table: map.flat() }
  const set = inner(lua, state, 'set', (at) => pairsAt(lua, state, at, version, depth))
  if (set !== undefined) return new Set(set.map(([member]) => member as Reply))
  const bigNumber = textField(lua, state, 'big_number')
  if (bigNumber !== undefined) return { bigNumber }
  const formatted = inner(lua, state, 'verbatim_string', () => formattedAt(lua, state))
  if (formatted !== undefined) return formatted
  const list: DoorReply[] = []
  listAt(lua, state, table, () => list.push(replyAt(lua, state, version, depth)))
  return { list }
}

/** Undefined if a part of it is missing. */
function formattedAt(lua: Lua, state: Pointer): DoorReply | undefined {
  const format = textField(lua, state, 'format')
  const text = textField(lua, state, 'string')
  return format?.length === FORMAT_LENGTH && text !== undefined ? { formatted: bytesOf(text), format } : undefined
}

function textField(lua: Lua, state: Pointer, name: string): string | undefined {
  lua.getField(state, lua.top(state), name)
  const text = lua.typeAt(state, -1) === LuaType.String ? lua.textAt(state, -1) : undefined
  lua.pop(state, 1)
  return text
}

function inner<T>(lua: Lua, state: Pointer, name: string, read: (table: number) => T | undefined): T | undefined {
  lua.getField(state, lua.top(state), name)
  const found = lua.typeAt(state, -1) === LuaType.Table ? read(lua.top(state)) : undefined
  lua.pop(state, 1)
  return found
}

function pairsAt(
  lua: Lua,
  state: Pointer,
  table: number,
  version: ProtocolVersion,
  depth: number,
): [DoorReply, DoorReply][] {
  const pairs: [DoorReply, DoorReply][] = []
  lua.pushNil(state)
  while (lua.next(state, table)) {
    const value = replyAt(lua, state, version, depth)
    lua.pop(state, 1)
    // A copy, since a number would become a string.
    lua.pushCopy(state, -1)
    const key = replyAt(lua, state, version, depth)
    lua.pop(state, 1)
    pairs.push([key, value])
  }
  return pairs
}

/** A code and what is behind it. */
export function faultOfText(text: string): FaultReply {
  const plain = text
    .replace(/^-/, '')
    .replace(/[\r\n]+$/, '')
    .replace(/[\r\n]/g, ' ')
  const space = plain.indexOf(' ')
  return space < 0 ? { fault: plain, message: '' } : { fault: plain.slice(0, space), message: plain.slice(space + 1) }
}

/** The arguments of redis.call: text or numbers. Undefined: one of them is not. */
export function argumentsAt(lua: Lua, state: Pointer): readonly Uint8Array[] | undefined {
  const args: Uint8Array[] = []
  for (let at = 1; at <= lua.top(state); at += 1) {
    const type = lua.typeAt(state, at)
    if (type === LuaType.Number) args.push(bytesOf(doubleText(lua.numberAt(state, at))))
    else if (type === LuaType.String) args.push(lua.bytesAt(state, at))
    else return undefined
  }
  return args
}
