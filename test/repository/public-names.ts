import { relative } from 'node:path'
import ts from 'typescript'
import { type PublicModules, publicModules } from './public-surface.ts'

function isPublic(property: ts.Symbol): boolean {
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected
  const isHidden = (node: ts.Declaration) => (ts.getCombinedModifierFlags(node) & hidden) !== 0
  return !property.declarations?.some(isHidden) && !property.getJsDocTags().some(({ name }) => name === 'internal')
}

/**
 * Looks up what the package exports, through all of its export paths: `name`, or `Name.member` of a class, an interface
 * or a constant.
 */
export class PublicNames {
  readonly #modules: PublicModules

  constructor(directory: string) {
    this.#modules = publicModules(directory)
  }

  /** Why there is no such thing; undefined where there is. */
  fault(text: string): string | undefined {
    const [name = '', member, ...more] = text.split('.')
    if (more.length > 0) return 'it is neither a name nor Name.member'
    const found = this.#exported(name)
    if (found.length === 0) return `no export path of package.json exports ${name}${this.#similar(name)}`
    if (member === undefined || found.some((symbol) => this.#members(symbol).has(member))) return undefined
    const places = found.map((symbol) => this.#place(symbol)).join(', ')
    return `${name} (${places}) has no member ${member}`
  }

  /** One name may be exported by several paths, and may mean something else in each. */
  #exported(name: string): ts.Symbol[] {
    return [...this.#modules.exports.values()].flat().filter((symbol) => symbol.name === name)
  }

  /** A name that was made longer or shorter. */
  #similar(name: string): string {
    const all = [...new Set([...this.#modules.exports.values()].flat().map((symbol) => symbol.name))]
    const similar = all.filter((each) => each.endsWith(name) || name.endsWith(each))
    return similar.length === 0 ? '' : `; there are ${similar.join(', ')}`
  }

  #members(symbol: ts.Symbol): Set<string> {
    const { checker, target } = this.#modules
    const meant = target(symbol)
    const types = [checker.getDeclaredTypeOfSymbol(meant), checker.getTypeOfSymbol(meant)]
    const properties = types.flatMap((type) => checker.getPropertiesOfType(type)).filter(isPublic)
    return new Set(properties.map((property) => property.name))
  }

  #place(symbol: ts.Symbol): string {
    const file = this.#modules.target(symbol).declarations?.[0]?.getSourceFile().fileName
    return file === undefined ? 'declared nowhere' : relative(this.#modules.directory, file)
  }
}
