import { relative } from 'node:path'
import ts from 'typescript'
import { type PublicModules, publicModules } from '../repository/public-surface.ts'

/** What a parameter takes, or a property of what it takes. */
export interface Place {
  readonly name: string
  readonly isOptional: boolean
  /** The properties that an object may have here; empty where it takes no plain object. */
  readonly properties: readonly Place[]
}

/** Something that programs call: `openDevice`, `new KeyvAether`, `Region.read`; or set: `Endpoint.handlers =`. */
export interface Callable {
  readonly name: string
  /** The export path that names its owner, or else leads to it first. */
  readonly door: string
  /** The class or interface that it is a member of; undefined for functions and constructors. */
  readonly owner: string | undefined
  readonly member: string
  readonly kind: 'function' | 'constructor' | 'static' | 'method' | 'setter'
  readonly places: readonly Place[]
}

const DEPTH_MAX = 3
const HIDDEN = ts.ModifierFlags.Private | ts.ModifierFlags.Protected

const isHidden = (node: ts.Declaration): boolean =>
  (ts.getCombinedModifierFlags(node) & HIDDEN) !== 0 ||
  ts.getJSDocTags(node).some(({ tagName }) => tagName.text === 'internal')

/** Everything that programs can call through the export paths of the package, as the compiler sees it. */
export function publicCallables(directory: string): readonly Callable[] {
  return new Finder(publicModules(directory)).find()
}

class Finder {
  readonly #modules: PublicModules
  readonly #checker: ts.TypeChecker
  /** What stands behind an exported name, and the path that exports it. */
  readonly #exported = new Map<ts.Symbol, string>()
  readonly #seen = new Set<ts.Type>()
  readonly #found = new Map<string, Callable>()
  /** Interfaces and abstract classes behind exported classes, at which their members are found. */
  readonly #implemented = new Set<ts.Symbol>()
  #door = ''

  constructor(modules: PublicModules) {
    this.#modules = modules
    this.#checker = modules.checker
    for (const [door, symbols] of modules.exports)
      for (const symbol of symbols) this.#exported.set(modules.target(symbol), door)
    for (const symbol of this.#exported.keys())
      for (const node of symbol.declarations ?? []) if (ts.isClassDeclaration(node)) this.#implements(node)
  }

  find(): readonly Callable[] {
    for (const [door, symbols] of this.#modules.exports) {
      this.#door = door
      for (const symbol of symbols) this.#export(symbol)
    }
    return [...this.#found.values()]
  }

  #implements(node: ts.ClassDeclaration | ts.InterfaceDeclaration): void {
    for (const clause of node.heritageClauses ?? []) {
      for (const named of clause.types) {
        const { symbol } = this.#checker.getTypeAtLocation(named)
        if (symbol === undefined || this.#implemented.has(symbol) || this.#exported.has(symbol)) continue
        this.#implemented.add(symbol)
        for (const above of symbol.declarations ?? [])
          if (ts.isInterfaceDeclaration(above) || ts.isClassDeclaration(above)) this.#implements(above)
      }
    }
  }

  #export(symbol: ts.Symbol): void {
    const meant = this.#modules.target(symbol)
    if (meant.flags & ts.SymbolFlags.Class) this.#class(symbol, meant)
    else if (meant.flags & ts.SymbolFlags.Function) this.#function(symbol.name, meant)
    else if (meant.flags & ts.SymbolFlags.Variable) this.#reach(this.#checker.getTypeOfSymbol(meant))
  }

  #function(name: string, symbol: ts.Symbol): void {
    const signatures = this.#checker.getTypeOfSymbol(symbol).getCallSignatures()
    this.#add({ name, owner: undefined, member: name, kind: 'function' }, signatures)
  }

  /** Of a class that is exported as a type, programs get no constructor. */
  #class(symbol: ts.Symbol, meant: ts.Symbol): void {
    const isType = symbol.declarations?.some(
      (node) => ts.isExportSpecifier(node) && ts.isTypeOnlyExportDeclaration(node),
    )
    if (isType !== true) this.#statics(symbol.name, this.#checker.getTypeOfSymbol(meant))
    this.#reach(this.#checker.getDeclaredTypeOfSymbol(meant))
  }

  #statics(name: string, type: ts.Type): void {
    const constructors = type
      .getConstructSignatures()
      .filter(({ declaration }) => !declaration || !isHidden(declaration))
    if (constructors.length > 0)
      this.#add({ name: `new ${name}`, owner: undefined, member: name, kind: 'constructor' }, constructors)
    for (const property of this.#checker.getPropertiesOfType(type)) {
      const signatures = this.#checker.getTypeOfSymbol(property).getCallSignatures()
      if (signatures.length > 0 && this.#isOurs(property))
        this.#add(
          { name: `${name}.${property.name}`, owner: undefined, member: property.name, kind: 'static' },
          signatures,
        )
    }
  }

  /** Finds what programs get hold of: what functions return, what objects have, what callbacks are given. */
  #reach(type: ts.Type): void {
    if (this.#seen.has(type)) return
    this.#seen.add(type)
    if (type.isUnionOrIntersection()) for (const part of type.types) this.#reach(part)
    for (const part of this.#arguments(type)) this.#reach(part)
    for (const signature of type.getCallSignatures()) this.#signature(signature)
    if (type.symbol === undefined || !this.#isDeclaredHere(type.symbol) || this.#isBelow(type.symbol)) return
    for (const property of this.#checker.getPropertiesOfType(type)) if (this.#isOurs(property)) this.#member(property)
  }

  #arguments(type: ts.Type): readonly ts.Type[] {
    const isReference = ((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Reference) !== 0
    return [
      ...(type.aliasTypeArguments ?? []),
      ...(isReference ? this.#checker.getTypeArguments(type as ts.TypeReference) : []),
    ]
  }

  #signature(signature: ts.Signature): void {
    this.#reach(signature.getReturnType())
    for (const parameter of signature.parameters)
      for (const callback of this.#checker.getTypeOfSymbol(parameter).getNonNullableType().getCallSignatures())
        for (const given of callback.parameters) this.#reach(this.#checker.getTypeOfSymbol(given))
  }

  #member(property: ts.Symbol): void {
    const type = this.#checker.getTypeOfSymbol(property).getNonNullableType()
    if (this.#isImplemented(property)) {
      this.#reach(type)
      return
    }
    const owner = this.#ownerOf(property)
    const door = this.#doorOf(property)
    const member = property.name.replace(/^__@(\w+)@\d+$/, '[$1]')
    const signatures = type.getCallSignatures()
    const isSettable = property.declarations?.some(isSettableProperty) === true
    if (isSettable) this.#setter(owner, member, type, door)
    else if (signatures.length > 0)
      this.#add({ name: `${owner}.${member}`, owner, member, kind: 'method' }, signatures, door)
    this.#reach(type)
  }

  #isImplemented(property: ts.Symbol): boolean {
    const [declaration] = property.declarations ?? []
    const parent = parentOf(property)
    if (declaration === undefined || parent === undefined || !this.#implemented.has(parent)) return false
    const isAbstract = (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Abstract) !== 0
    return isAbstract || (parent.flags & ts.SymbolFlags.Interface) !== 0
  }

  #setter(owner: string, member: string, type: ts.Type, door: string): void {
    const name = `${owner}.${member} =`
    const place = { name: member, isOptional: false, properties: this.#propertiesOf(type, 1) }
    if (!this.#found.has(name)) this.#found.set(name, { name, door, owner, member, kind: 'setter', places: [place] })
  }

  #ownerOf(property: ts.Symbol): string {
    const parent = property.declarations?.[0]?.parent
    const named = parent as { readonly name?: ts.Identifier } | undefined
    return named?.name?.text ?? parent?.parent?.getText().match(/\w+/)?.[0] ?? '?'
  }

  #doorOf(property: ts.Symbol): string {
    const parent = parentOf(property)
    return (parent && this.#exported.get(parent)) ?? this.#door
  }

  #add(callable: Omit<Callable, 'door' | 'places'>, signatures: readonly ts.Signature[], door = this.#door): void {
    for (const signature of signatures) this.#signature(signature)
    if (this.#found.has(callable.name)) return
    const longest = signatures.reduce((most, each) => (each.parameters.length > most.parameters.length ? each : most))
    const places = longest.parameters.map((parameter) => this.#place(parameter, 0))
    this.#found.set(callable.name, { ...callable, door, places })
  }

  #place(symbol: ts.Symbol, depth: number): Place {
    const [declaration] = symbol.declarations ?? []
    const isOptional =
      (symbol.flags & ts.SymbolFlags.Optional) !== 0 ||
      (declaration !== undefined && ts.isParameter(declaration) && this.#checker.isOptionalParameter(declaration))
    const name = symbol.name.startsWith('__') ? 'options' : symbol.name
    return { name, isOptional, properties: this.#propertiesOf(this.#checker.getTypeOfSymbol(symbol), depth + 1) }
  }

  #propertiesOf(type: ts.Type, depth: number): readonly Place[] {
    if (depth > DEPTH_MAX) return []
    const wanted = type.getNonNullableType()
    const parts = wanted.isUnion() ? wanted.types : [wanted]
    const properties = parts.filter((part) => this.#isPlain(part)).flatMap((part) => part.getProperties())
    const places = properties
      .filter((property) => !property.declarations?.some(isHidden))
      .map((each) => this.#place(each, depth))
    return [...new Map(places.map((place) => [place.name, place])).values()]
  }

  /** An object that programs write as `{ … }`: neither a class of ours nor one with methods. */
  #isPlain(type: ts.Type): boolean {
    if ((type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) === 0) return false
    if (type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0) return false
    if ((type.symbol?.flags & ts.SymbolFlags.Class) !== 0 || this.#checker.isArrayLikeType(type)) return false
    const declarations = type.getProperties().flatMap((property) => property.declarations ?? [])
    return declarations.length > 0 && declarations.every((node) => this.#isHere(node) && !ts.isMethodSignature(node))
  }

  #isOurs(property: ts.Symbol): boolean {
    const declarations = property.declarations ?? []
    return !property.name.startsWith('#') && this.#isDeclaredHere(property) && !declarations.some(isHidden)
  }

  #isDeclaredHere(symbol: ts.Symbol): boolean {
    const [declaration] = symbol.declarations ?? []
    return declaration !== undefined && this.#isHere(declaration)
  }

  /** What a provider is made of: programs get it only where a door exports its type. */
  #isBelow(symbol: ts.Symbol): boolean {
    const file = symbol.declarations?.[0]?.getSourceFile().fileName ?? ''
    return relative(this.#modules.directory, file).startsWith('src/providers/') && !this.#exported.has(symbol)
  }

  #isHere(node: ts.Declaration): boolean {
    return relative(this.#modules.directory, node.getSourceFile().fileName).startsWith('src/')
  }
}

/** The class or interface that declares it. */
function parentOf(property: ts.Symbol): ts.Symbol | undefined {
  return (property.declarations?.[0]?.parent as { readonly symbol?: ts.Symbol } | undefined)?.symbol
}

function isSettableProperty(node: ts.Declaration): boolean {
  if (ts.isSetAccessor(node)) return true
  return ts.isPropertyDeclaration(node) && (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Readonly) === 0
}
