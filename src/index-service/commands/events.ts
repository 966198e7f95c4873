/**
 * Which event a command tells for each key that it changes. Most are called as their command. A name that is missing
 * here is its own event; what its code names comes before both.
 */
const EVENTS: Readonly<Record<string, string | undefined>> = {
  setnx: 'set',
  setex: 'set',
  psetex: 'set',
  getset: 'set',
  mset: 'set',
  msetnx: 'set',
  bitop: 'set',
  incr: 'incrby',
  decr: 'incrby',
  decrby: 'incrby',
  bitfield: 'setbit',
  hmset: 'hset',
  hsetnx: 'hset',
  lpushx: 'lpush',
  rpushx: 'rpush',
  blpop: 'lpop',
  brpop: 'rpop',
  sort: 'sortstore',
  zincrby: 'zincr',
  bzpopmin: 'zpopmin',
  bzpopmax: 'zpopmax',
  // What consumers have is no event.
  xack: undefined,
  xclaim: undefined,
  xautoclaim: undefined,
  xreadgroup: undefined,
}

export function eventOf(command: string): string | undefined {
  return command in EVENTS ? EVENTS[command] : command
}
