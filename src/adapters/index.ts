/** What the command uses of the adapters. Users import each by its own path. */
export { checkStore } from './bullmq/checking/check-store.ts'
