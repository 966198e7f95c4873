import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Browser, chromium, type Page } from 'playwright-core'

/** Under these names distributions install it. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome']
const ANSWER_MS_MAX = 60_000

/** Where Chromium is; undefined where it is not on PATH. */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable)
}

/** A real browser without a window, with one page. */
export class Chromium implements AsyncDisposable {
  /** What the page threw and nobody caught. */
  readonly errors: string[] = []
  readonly #browser: Browser
  readonly #page: Page

  private constructor(browser: Browser, page: Page) {
    this.#browser = browser
    this.#page = page
    page.on('pageerror', (error) => this.errors.push(error.stack ?? error.message))
  }

  /** @throws Error where it does not start. */
  static async start(
    path: string,
    { width = 1440, height = 900 }: { readonly width?: number; readonly height?: number } = {},
  ): Promise<Chromium> {
    const browser = await chromium.launch({
      executablePath: path,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
      timeout: ANSWER_MS_MAX,
    })
    return new Chromium(browser, await browser.newPage({ viewport: { width, height }, deviceScaleFactor: 1 }))
  }

  async goTo(url: string): Promise<void> {
    await this.#page.goto(url, { waitUntil: 'commit', timeout: ANSWER_MS_MAX })
  }

  /** A script that runs in each page before its own do. */
  async addInitScript(source: string): Promise<void> {
    await this.#page.addInitScript(source)
  }

  /** The value of an expression in the page; a promise is awaited. */
  async evaluate<T>(expression: string): Promise<T> {
    const late = new AbortController()
    const tooLate = sleep(ANSWER_MS_MAX, undefined, { signal: late.signal }).then(() => {
      throw new Error(`the page does not answer ${expression}`)
    })
    tooLate.catch(() => {})
    try {
      return await Promise.race([this.#page.evaluate<T>(expression), tooLate])
    } finally {
      late.abort()
    }
  }

  /** Wait until an expression is true; says what the page shows when it never is. */
  async until(expression: string, what: string, timeoutMs: number = 40_000): Promise<void> {
    const deadline = Date.now() + timeoutMs
    while (!(await this.evaluate<boolean>(`Boolean(${expression})`).catch(() => false))) {
      if (Date.now() < deadline) await sleep(50)
      else
        throw new Error(
          `waited in vain: ${what}; the page shows: ${await this.evaluate<string>('document.body.innerText')}; ${this.errors.join()}`,
        )
    }
  }

  async press(key: string): Promise<void> {
    await this.#page.keyboard.press(key)
  }

  /** A picture of the page, or of the first element that `selector` finds in it, as PNG. */
  async screenshot(selector?: string): Promise<Buffer> {
    const of = selector === undefined ? this.#page : this.#page.locator(selector).first()
    return of.screenshot({ type: 'png' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
