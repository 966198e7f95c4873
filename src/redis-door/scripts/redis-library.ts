import { createHash } from 'node:crypto'
import { type FaultReply, latin1Of } from '../../index-service/index.ts'
import { entryNamed } from '../catalogue/catalogue.ts'
import { type DoorReply, NO_REPLY } from '../protocol/door-reply.ts'
import { REDIS_VERSION } from '../protocol/redis-version.ts'
import { isFault, type ProtocolVersion } from '../protocol/reply-writer.ts'
import { type Lua, LuaFault, type LuaFunction } from './lua/lua.ts'
import { LuaType, type Pointer } from './lua/wasm.ts'
import { argumentsAt, faultOfText, pushFault, ReplyPusher } from './script-replies.ts'

/** What the running script asks of Redis, by redis.call and the like. */
export interface ScriptHost {
  version: ProtocolVersion
  call(name: string, args: readonly Uint8Array[]): DoorReply
  /** The client of the script may do that. */
  may(name: string, args: readonly Uint8Array[]): boolean
}

const REPL_ALL = 3

/** Numbers that scripts know by names. */
export const redisNumbers: Readonly<Record<string, number>> = {
  LOG_DEBUG: 0,
  LOG_VERBOSE: 1,
  LOG_NOTICE: 2,
  LOG_WARNING: 3,
  REPL_NONE: 0,
  REPL_SLAVE: 2,
  REPL_REPLICA: 2,
  REPL_AOF: 1,
  REPL_ALL,
  REDIS_VERSION_NUM: REDIS_VERSION.split('.').reduce((sum, part) => sum * 256 + Number(part), 0),
}

const WRONG_ARGUMENTS = 'ERR wrong number or type of arguments'

/** The functions of the table `redis`. `host` is that of the script that runs. */
export function redisLibrary(lua: Lua, host: () => ScriptHost): Readonly<Record<string, LuaFunction>> {
  const pusher = new ReplyPusher(lua)
  const pushError = (state: Pointer, text: string): void => {
    lua.newTable(state, 0, 1)
    lua.pushText(state, text)
    lua.setField(state, -2, 'err')
  }
  const fault = (text: string): LuaFault => new LuaFault(text, { push: (state) => pushError(state, text) })
  const faultOf = (reply: FaultReply): LuaFault =>
    new LuaFault(reply.message, { push: (state) => pushFault(lua, state, reply) })
  const ask = (state: Pointer): DoorReply => {
    if (lua.top(state) === 0) return refused('Please specify at least one argument for this redis lib call')
    const [name, ...args] = argumentsAt(lua, state) ?? []
    if (name === undefined) return refused('Lua redis lib command arguments must be strings or integers')
    return host().call(latin1Of(name), args)
  }
  const setting =
    (name: 'err' | 'ok', shape: (text: string) => string): LuaFunction =>
    (state) => {
      if (lua.top(state) !== 1 || lua.typeAt(state, 1) !== LuaType.String) {
        pushError(state, WRONG_ARGUMENTS)
        return 1
      }
      const text = shape(lua.textAt(state, 1))
      lua.newTable(state, 0, 1)
      lua.pushText(state, text)
      lua.setField(state, -2, name)
      return 1
    }
  return {
    call: (state) => {
      const reply = ask(state)
      if (reply !== NO_REPLY && isFault(reply)) throw faultOf(reply)
      pusher.push(state, reply, host().version)
      return 1
    },
    pcall: (state) => {
      const reply = ask(state)
      pusher.push(state, reply, host().version)
      return 1
    },
    error_reply: setting('err', errorText),
    status_reply: setting('ok', (text) => text),
    sha1hex: (state) => {
      if (lua.top(state) !== 1) throw fault('ERR wrong number of arguments')
      lua.pushText(state, sha1Of(lua.bytesAt(state, 1)))
      return 1
    },
    setresp: (state) => {
      if (lua.top(state) !== 1) throw fault('ERR redis.setresp() requires one argument.')
      const version = lua.numberAt(state, 1)
      if (version !== 2 && version !== 3) throw fault('ERR RESP version must be 2 or 3.')
      host().version = version
      return 0
    },
    log: (state) => {
      if (lua.top(state) < 2) throw fault('ERR redis.log() requires two arguments or more.')
      const level = lua.numberAt(state, 1)
      if (lua.typeAt(state, 1) !== LuaType.Number) throw fault('ERR First argument must be a number (log level).')
      if (level < 0 || level > 3) throw fault('ERR Invalid debug level.')
      return 0
    },
    // Effects are always what is replicated, and to all.
    replicate_commands: (state) => {
      lua.pushTruth(state, true)
      return 1
    },
    set_repl: (state) => {
      if (lua.top(state) !== 1) throw fault('ERR redis.set_repl() requires two arguments.')
      const flags = lua.numberAt(state, 1)
      if ((flags & ~REPL_ALL) !== 0)
        throw fault('ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.')
      return 0
    },
    // Only a debugger is told.
    debug: () => 0,
    breakpoint: (state) => {
      lua.pushTruth(state, false)
      return 1
    },
    acl_check_cmd: (state) => {
      if (lua.top(state) === 0) throw fault('ERR Please specify at least one argument for this redis lib call')
      const [bytes, ...args] = argumentsAt(lua, state) ?? []
      const name = bytes === undefined ? '' : latin1Of(bytes).toLowerCase()
      if (entryNamed(name) === undefined) throw fault('ERR Invalid command passed to redis.acl_check_cmd()')
      lua.pushTruth(state, host().may(name, args))
      return 1
    },
  }
}

function refused(message: string): DoorReply {
  return { fault: 'ERR', message }
}

/** With a code in front. */
function errorText(text: string): string {
  const { fault, message } = faultOfText(text)
  return message === '' ? `ERR ${fault}` : `${fault} ${message}`
}

export function sha1Of(bytes: Uint8Array): string {
  return createHash('sha1').update(bytes).digest('hex')
}
