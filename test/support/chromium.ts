import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Browser, chromium, type Page } from 'playwright-core'

/** Under these names distributions install it. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome']
const ANSWER_MS_MAX = 60_000
/** How long a browser without a page stays for the next. */
const IDLE_MS = 300

/** Where Chromium is; undefined where it is not on PATH. */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable)
}

/** The browser of this process, while pages of it are open: to start one takes three seconds of a processor. */
class SharedBrowser {
  #browser: Promise<Browser> | undefined
  #pages = 0
  #closing: NodeJS.Timeout | undefined

  async openPage(path: string, viewport: { readonly width: number; readonly height: number }): Promise<Page> {
    clearTimeout(this.#closing)
    this.#pages += 1
    this.#browser ??= chromium.launch({
      executablePath: path,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
      timeout: ANSWER_MS_MAX,
    })
    try {
      const browser = await this.#browser
      // With a context of its own: pages see nothing of each other.
      return await browser.newPage({ viewport, deviceScaleFactor: 1 })
    } catch (error) {
      this.#leave()
      throw error
    }
  }

  async closePage(page: Page): Promise<void> {
    await page.close()
    this.#leave()
  }

  #leave(): void {
    this.#pages -= 1
    if (this.#pages === 0) this.#closing = setTimeout(() => this.#close(), IDLE_MS)
  }

  #close(): void {
    const browser = this.#browser
    this.#browser = undefined
    browser?.then((open) => open.close()).catch(() => {})
  }
}

const shared = new SharedBrowser()

/** A page in a real browser without a window. */
export class Chromium implements AsyncDisposable {
  /** What the page threw and nobody caught. */
  readonly errors: string[] = []
  readonly #page: Page

  private constructor(page: Page) {
    this.#page = page
    page.on('pageerror', (error) => this.errors.push(error.stack ?? error.message))
  }

  /** @throws Error where no browser starts. */
  static async start(
    path: string,
    { width = 1440, height = 900 }: { readonly width?: number; readonly height?: number } = {},
  ): Promise<Chromium> {
    return new Chromium(await shared.openPage(path, { width, height }))
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
    await shared.closePage(this.#page)
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
