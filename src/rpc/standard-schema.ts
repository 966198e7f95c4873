/** The result of a schema for a value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** A problem, and where it is. */
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/**
 * A schema of any library that follows Standard Schema, version 1 (https://standardschema.dev), such as Zod, Valibot or
 * ArkType.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** The input type of the schema. */
export type SchemaInput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['input']
/** The output type of the schema. */
export type SchemaOutput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output']

const anything: StandardSchema = {
  '~standard': { version: 1, vendor: 'aether', validate: (value) => ({ value }) },
}

/** A type that only the compiler checks: every value is accepted at run time, at no cost. */
export function type<T>(): StandardSchema<T, T> {
  return anything as StandardSchema<T, T>
}

/** True if values do not have to be checked by it. */
export function takesAnything(schema: StandardSchema): boolean {
  return schema === anything
}
