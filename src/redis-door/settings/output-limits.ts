import { CommandFault } from '../../index-service/index.ts'
import { bytesOfMemory, type Parameter } from './parameter.ts'

/** How many bytes may wait for a client: at any time, and for `softSeconds`. 0: as many as there are. */
export interface OutputLimit {
  readonly hardBytes: number
  readonly softBytes: number
  readonly softSeconds: number
}

export type OutputClass = 'normal' | 'slave' | 'pubsub'

/** There are no clients of class `slave`: it is kept as it was set. */
const classes: readonly OutputClass[] = ['normal', 'slave', 'pubsub']
const DEFAULT_OUTPUT_LIMITS = 'normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60'

/** client-output-buffer-limit: what is not named stays as it was. */
export function outputLimitParameter(changed: (limits: ReadonlyMap<OutputClass, OutputLimit>) => void): Parameter {
  let limits = readOutputLimits(DEFAULT_OUTPUT_LIMITS)
  changed(limits)
  return {
    name: 'client-output-buffer-limit',
    value: DEFAULT_OUTPUT_LIMITS,
    read(given) {
      const next = new Map([...limits, ...readOutputLimits(given)])
      return classes.map((each) => `${each} ${shown(next.get(each)!)}`).join(' ')
    },
    applied(given) {
      limits = new Map([...limits, ...readOutputLimits(given)])
      changed(limits)
    },
  }
}

function shown({ hardBytes, softBytes, softSeconds }: OutputLimit): string {
  return `${hardBytes} ${softBytes} ${softSeconds}`
}

function readOutputLimits(given: string): ReadonlyMap<OutputClass, OutputLimit> {
  const words = given.split(' ').filter((word) => word !== '')
  if (words.length === 0 || words.length % 4 !== 0)
    throw new CommandFault('Wrong number of arguments in buffer limit configuration.')
  const limits = new Map<OutputClass, OutputLimit>()
  for (let at = 0; at < words.length; at += 4) {
    const [name, hard, soft, seconds] = words.slice(at, at + 4) as [string, string, string, string]
    const known = name.toLowerCase() === 'replica' ? 'slave' : classes.find((each) => each === name.toLowerCase())
    if (known === undefined) throw new CommandFault('Invalid client class specified in buffer limit configuration.')
    const [hardBytes, softBytes] = [bytesOfMemory(hard), bytesOfMemory(soft)]
    if (hardBytes === undefined || softBytes === undefined || !/^\d{1,9}$/.test(seconds))
      throw new CommandFault('Error in hard, soft or soft_seconds setting in buffer limit configuration.')
    limits.set(known, { hardBytes, softBytes, softSeconds: Number(seconds) })
  }
  return limits
}
