import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { AetherError } from 'aether-dsm/internal/native'

/** A package that is there or not: this one does not depend on it. @throws AetherError that says what to type. */
export async function optionalPackage<T>(name: string): Promise<T> {
  try {
    return (await import(name)) as T
  } catch (cause) {
    throw new AetherError('ERR_AETHER_BENCH', `the package ${name} is not installed (npm install ${name})`, { cause })
  }
}

/** Its version, or nothing where it does not say. */
export function packageVersion(name: string): string {
  try {
    // Not every package lets its package.json be resolved: its folder is found from its code.
    const code = createRequire(import.meta.url).resolve(name)
    const folder = code.slice(0, code.lastIndexOf(`/node_modules/${name}/`) + `/node_modules/${name}/`.length)
    return (JSON.parse(readFileSync(`${folder}package.json`, 'utf8')) as { readonly version: string }).version
  } catch {
    return ''
  }
}
