/**
 * Groups of several hosts: how their ranks find each other over TCP, prove that they know a shared secret, and learn of
 * each other's end.
 */

export { ControlLine, type ControlPlace } from './control-line.ts'
export { type EndNotice, EndNotices } from './end-notices.ts'
export { RendezvousError } from './errors.ts'
export { type HostSlots, parseHosts, slotsOf } from './host-slots.ts'

export { type Machine, thisMachine } from './machine.ts'
export { isIndex, isRecord } from './messages.ts'

export { connectionLimits } from './sealed-connection.ts'
