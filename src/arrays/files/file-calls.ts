import { AetherError, checkInstance, checkText, mustBe } from '../../native/index.ts'
import { NdArray } from '../array.ts'
import { ArrayError } from '../errors.ts'
import type { Arrays } from '../open-arrays.ts'

/** @throws ArgumentError */
export function checkNamespace(xp: Arrays): void {
  if (typeof xp !== 'object' || xp === null || typeof xp.isArray !== 'function')
    throw mustBe('xp', 'a namespace as openArrays() returns', xp)
}

/** @throws ArgumentError */
export function checkArray(argument: string, array: NdArray): void {
  checkInstance(argument, array, NdArray, 'as xp.asarray() returns')
}

/** @throws ArgumentError */
export function checkPath(argument: string, path: string): void {
  checkText(argument, path)
  if (path.includes('\0')) throw mustBe(argument, 'a path without null characters', path)
}

/** Does what reaches a file. @throws ArrayError FILE in place of an error of the system, which is its cause */
export async function onFile<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (cause) {
    const { syscall, message } = cause as NodeJS.ErrnoException
    if (cause instanceof AetherError || syscall === undefined) throw cause
    throw new ArrayError('FILE', `${path} cannot be used: ${message}`, { cause })
  }
}
