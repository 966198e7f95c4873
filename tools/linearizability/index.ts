/** Whether a history of concurrent calls could have happened one after the other. */
export * from './check.ts'
export * from './history.ts'
export * from './models.ts'
