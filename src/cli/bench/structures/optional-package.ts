import { AetherError } from '../../../native/index.ts'

/** A package that is there or not: this one does not depend on it. @throws AetherError that says what to type. */
export async function optionalPackage<T>(name: string): Promise<T> {
  try {
    return (await import(name)) as T
  } catch (cause) {
    throw new AetherError('ERR_AETHER_BENCH', `the package ${name} is not installed (npm install ${name})`, { cause })
  }
}
