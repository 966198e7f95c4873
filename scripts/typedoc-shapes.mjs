/**
 * Plugin of TypeDoc, after typedoc-plugin-missing-exports: of what is not exported, the reference keeps what a reader
 * of public signatures needs. That is the shape of options and results, and a class if a call returns it. What only
 * internal members name stays out.
 */
import { Converter, makeRecursiveVisitor, ReflectionKind } from 'typedoc'

const SHAPE = ReflectionKind.Interface | ReflectionKind.TypeAlias | ReflectionKind.Variable

/**
 * Calls `found` with every reflection that the types of `reflection` and of its members name, and whether a call
 * returns it.
 */
function visitNamed(reflection, found) {
  const isReturned = reflection.kindOf(ReflectionKind.CallSignature)
  const visitor = makeRecursiveVisitor({
    reference: (type) => type.reflection !== undefined && found(type.reflection, isReturned),
    query: ({ queryType }) => queryType.reflection !== undefined && found(queryType.reflection, false),
    reflection: ({ declaration }) => visitNamed(declaration, found),
  })
  const own = [
    reflection.type,
    reflection.default,
    ...(reflection.extendedTypes ?? []),
    ...(reflection.implementedTypes ?? []),
  ]
  for (const type of own) type?.visit?.(visitor)
  reflection.traverse((child) => {
    visitNamed(child, found)
    return true
  })
}

/** @param {import('typedoc').Application} app */
export function load(app) {
  const prune = ({ project }) => {
    const internalModule = app.options.getValue('internalModule')
    const isInternal = (module) => module.name === internalModule
    const modules = project.children ?? []
    const shapes = new Set(
      modules.flatMap((module) => module.children?.filter(isInternal) ?? []).flatMap((each) => each.children ?? []),
    )
    const kept = new Set()
    const keep = (reflection, isReturned) => {
      if (!shapes.has(reflection) || kept.has(reflection)) return
      if (!reflection.kindOf(SHAPE) && !(isReturned && reflection.kindOf(ReflectionKind.Class))) return
      kept.add(reflection)
      visitNamed(reflection, keep)
    }
    for (const module of modules)
      for (const child of module.children ?? []) if (!isInternal(child)) visitNamed(child, keep)
    for (const shape of shapes) if (!kept.has(shape)) project.removeReflection(shape)
  }
  // After excluded members are gone, and before links are resolved.
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, prune, -1000)
}
