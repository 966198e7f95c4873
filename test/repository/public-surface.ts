import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** Export path of the package -> exported name -> kind. */
export type PublicSurface = Readonly<Record<string, Readonly<Record<string, string>>>>

interface PackageFile {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
}

/** The export paths for users that have types, with the source that each is built from. */
export function entrySources(directory: string): Map<string, string> {
  const { exports } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as PackageFile
  const sources = new Map<string, string>()
  for (const [path, target] of Object.entries(exports)) {
    if (typeof target === 'string' || path.startsWith('./internal/')) continue
    sources.set(path, join(directory, target.default.replace(/^\.\/dist\//, '').replace(/\.js$/, '.ts')))
  }
  return sources
}

const kinds: readonly (readonly [ts.SymbolFlags, string])[] = [
  [ts.SymbolFlags.Class, 'class'],
  [ts.SymbolFlags.Function, 'function'],
  [ts.SymbolFlags.Variable, 'const'],
  [ts.SymbolFlags.Interface, 'interface'],
  [ts.SymbolFlags.TypeAlias, 'type'],
]

/** Exported as `export { type Name }`: a class of which users get only the type. */
function isTypeOnly(symbol: ts.Symbol): boolean {
  return (symbol.declarations ?? []).some((node) => ts.isExportSpecifier(node) && ts.isTypeOnlyExportDeclaration(node))
}

/** `const + type` where one name is both. */
function kindOf(symbol: ts.Symbol, modules: PublicModules): string {
  const target = modules.target(symbol)
  const names = kinds.filter(([flag]) => target.flags & flag).map(([, name]) => name)
  if (isTypeOnly(symbol) && names.includes('class')) return 'type of a class'
  return names.length > 0 ? names.join(' + ') : `unknown (${target.flags})`
}

/** The modules behind the export paths, as the compiler sees them. */
export interface PublicModules {
  readonly directory: string
  readonly checker: ts.TypeChecker
  readonly exports: ReadonlyMap<string, readonly ts.Symbol[]>
  /** What an exported name stands for where it is exported under another file's name. */
  target(symbol: ts.Symbol): ts.Symbol
}

export function publicModules(directory: string): PublicModules {
  const sources = entrySources(directory)
  const configuration = ts.readConfigFile(join(directory, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(configuration.config, ts.sys, directory)
  const program = ts.createProgram([...sources.values()], { ...options, noEmit: true, incremental: false })
  const checker = program.getTypeChecker()
  const exports = new Map<string, readonly ts.Symbol[]>()
  for (const [path, source] of sources) {
    const file = program.getSourceFile(source)
    const module = file && checker.getSymbolAtLocation(file)
    if (!module) throw new Error(`${path} of package.json's exports has no module ${source}`)
    exports.set(path, checker.getExportsOfModule(module))
  }
  const target = (symbol: ts.Symbol) =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  return { directory, checker, exports, target }
}

/** What the sources export, by export path. */
export function publicSurface(directory: string): PublicSurface {
  const modules = publicModules(directory)
  const surface: Record<string, Record<string, string>> = {}
  for (const [path, symbols] of modules.exports) {
    const entries = symbols.map((symbol) => [symbol.name, kindOf(symbol, modules)] as const)
    surface[path] = Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)))
  }
  return surface
}
