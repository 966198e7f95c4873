import { describeMessage, messageOf, type RecordedMessage, type RecordedStep } from '../../dsm/index.ts'

/** The input of a step, in words. */
export function describeInput({ call, arguments: args }: RecordedStep): string {
  const [first, second, third] = args
  switch (call) {
    case 'demand':
      return `a thread wants to ${second === true ? 'write' : 'read'} page ${first}`
    case 'evict':
      return `page ${first} is to be evicted`
    case 'receive': {
      const message = first as RecordedMessage
      return `from rank ${message[2]}: ${describeMessage(messageOf(message))}`
    }
    case 'retry':
      return `page ${first} no longer has to be held`
    case 'absorb':
      return `recovery: a message that had arrived is handled: ${describeMessage(messageOf(first as RecordedMessage))}`
    case 'forget':
      return 'recovery: requests in progress are dropped'
    case 'install':
      return `recovery: the copy of page ${first} is '${second}'`
    case 'installLost':
      return `recovery: page ${first} is lost`
    case 'installDirectory':
      return `recovery: page ${first}: owner ${second === -1 ? 'none' : `rank ${second}`}, sharers ${(third as readonly number[]).join(' ') || 'none'}`
  }
}
