import { ArgumentError, checkBytes, checkOptions, checkWhole, mustBe, type OptionNames } from '../native/index.ts'
import type { AddressVector, BufferOrigin } from '../providers/index.ts'

/** Return an address, a length or an id that a double holds exactly. @throws ArgumentError */
export function exact(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw mustBe(name, 'an integer from 0 to 2^53 - 1', value)
  return value
}

/** Return a key, a queue pair number or an immediate that fits 32 bits. @throws ArgumentError */
export function word32(name: string, value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) throw mustBe(name, 'an integer of 32 bits', value)
  return value
}

/** Return an operand of an atomic. @throws ArgumentError */
export function word64(name: string, value: bigint): bigint {
  if (typeof value !== 'bigint') throw mustBe(name, 'a bigint that fits 64 bits, such as 1n', value)
  return value
}

const originNames: OptionNames<BufferOrigin> = { descriptor: true, offsetBytes: true }

/** @throws ArgumentError unless it is rights, or undefined. */
export function checkRights(argument: string, access: number | undefined): void {
  if (access === undefined || (Number.isInteger(access) && access >= 0 && access <= 0x7fffffff)) return
  throw mustBe(argument, 'rights, such as Access.LocalWrite | Access.RemoteRead', access)
}

/** @throws ArgumentError unless it says where a buffer lies, or is undefined. */
export function checkOrigin(call: string, argument: string, origin: BufferOrigin | undefined): void {
  if (origin === undefined) return
  checkOptions(call, origin, originNames, argument)
  checkWhole(`${argument}.descriptor`, origin.descriptor, 0, 0x7fffffff)
  checkWhole(`${argument}.offsetBytes`, origin.offsetBytes, 0, Number.MAX_SAFE_INTEGER)
}

/** @throws ArgumentError unless it is a number of milliseconds, or undefined. */
export function checkTimeout(timeoutMs: number | undefined): void {
  if (timeoutMs === undefined || (typeof timeoutMs === 'number' && timeoutMs >= 0)) return
  throw mustBe('options.timeoutMs', 'a number of milliseconds from 0 on', timeoutMs)
}

const vectorNames: OptionNames<AddressVector> = {
  gid: true,
  global: true,
  localIdentifier: true,
  sourceGidIndex: true,
  hopLimit: true,
  serviceLevel: true,
  flowLabel: true,
  trafficClass: true,
  sourcePathBits: true,
  staticRate: true,
  port: true,
}

/** @throws ArgumentError unless it is the address of a peer. */
export function checkVector(call: string, argument: string, vector: AddressVector): void {
  checkOptions(call, vector, vectorNames, argument)
  const { gid, global = true, ...numbers } = (vector ?? {}) as AddressVector
  checkGid(`${argument}.gid`, gid)
  if (typeof global !== 'boolean') throw mustBe(`${argument}.global`, 'true or false', global)
  for (const [name, value] of Object.entries(numbers))
    if (value !== undefined) checkWhole(`${argument}.${name}`, value, 0, 0xffffffff)
}

/** @throws ArgumentError unless it is a gid. */
export function checkGid(argument: string, gid: unknown): void {
  if (typeof gid === 'bigint' && gid >= 0n && gid < 2n ** 128n) return
  throw mustBe(argument, 'a gid, as device.gid or parseGid() gives', gid)
}

/** @throws ArgumentError unless it is bytes that are there: those of a buffer that was transferred are not. */
export function checkAttached(argument: string, bytes: Uint8Array): void {
  checkBytes(argument, bytes)
  if (isDetached(bytes.buffer)) throw new ArgumentError(argument, detached(argument))
}

/** Without `ArrayBuffer.prototype.detached`, which Node 20 does not have. */
export function isDetached(buffer: ArrayBufferLike): boolean {
  if (buffer.byteLength > 0) return false
  try {
    return new Uint8Array(buffer).length > 0
  } catch {
    return true
  }
}

export function detached(argument: string): string {
  return `${argument} was transferred to another thread; pass bytes that are still here`
}
