import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** Export path of the package -> exported name -> kind. */
export type PublicSurface = Readonly<Record<string, Readonly<Record<string, string>>>>

interface PackageFile {
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
}

/** A door for users: an export path with types. */
export interface Door {
  readonly path: string
  /** The module that it is built from. */
  readonly source: string
  /** The bundle that users import. */
  readonly bundle: string
}

export function doors(directory: string): Door[] {
  const { exports } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as PackageFile
  return Object.entries(exports).flatMap(([path, target]) => {
    if (typeof target === 'string' || path.startsWith('./internal/')) return []
    const name = path === '.' ? 'index' : path.slice(2)
    const source = name.startsWith('adapters/') ? `src/${name}/index.ts` : `src/public/${name}.ts`
    return [{ path, source: join(directory, source), bundle: join(directory, target.default) }]
  })
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
  const all = doors(directory)
  const configuration = ts.readConfigFile(join(directory, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(configuration.config, ts.sys, directory)
  const program = ts.createProgram(
    all.map(({ source }) => source),
    { ...options, noEmit: true, incremental: false },
  )
  const checker = program.getTypeChecker()
  const exports = new Map<string, readonly ts.Symbol[]>()
  for (const { path, source } of all) {
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
