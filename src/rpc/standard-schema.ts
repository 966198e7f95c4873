/** What a schema says of a value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** What is wrong, and where. */
export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/**
 * A schema of any library that follows Standard Schema, version 1 (https://standardschema.dev): Zod, Valibot, ArkType
 * and others.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** What is given to the schema. */
export type SchemaInput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['input']
/** What comes out of it. */
export type SchemaOutput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output']

const anything: StandardSchema = {
  '~standard': { version: 1, vendor: 'aether', validate: (value) => ({ value }) },
}

/** A type that only the compiler checks: whatever comes is taken for it. Costs nothing. */
export function type<T>(): StandardSchema<T, T> {
  return anything as StandardSchema<T, T>
}

/** Whether a value need not be shown to it. */
export function takesAnything(schema: StandardSchema): boolean {
  return schema === anything
}
