import { access } from 'node:fs/promises';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** Installation path on Debian. */
const EXECUTABLE = '/usr/bin/chromium';

/** A page may take this long to show something on a busy machine. */
const PATIENCE_MS = 100_000;

/** Starts a real browser without a window. Returns null if it is not installed. */
export async function startChromium(): Promise<Browser | null> {
  try {
    await access(EXECUTABLE);
  } catch {
    return null;
  }
  // Debian's Chromium otherwise draws with an emulated GPU, which now and then stops drawing a page
  // for good: neither frames nor screenshots come any more.
  return chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-gpu'] });
}

/** A user's browser window, together with everything that it received and all errors. */
export interface Window {
  page: Page;
  context: BrowserContext;
  /** Text of all response bodies and server-sent events. */
  heard: string[];
  /** Exceptions, violations of the content security policy, and dialogs. */
  trouble: string[];
}

/**
 * Opens a window and signs in with the form, as a person would. With `free`, test scripts may set
 * styles, which the page's content security policy forbids.
 */
export async function openWindow(
  browser: Browser,
  {
    url,
    key,
    width = 1440,
    height = 900,
    free = false,
  }: { url: string; key: string; width?: number; height?: number; free?: boolean },
): Promise<Window> {
  const context = await browser.newContext({
    viewport: { width, height },
    locale: 'en-GB',
    bypassCSP: free,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const heard: string[] = [];
  const trouble: string[] = [];
  page.on('pageerror', ({ message }) => trouble.push(message));
  page.on('console', (message) => {
    // Unsuccessful responses are left out, because the page itself reports them.
    const own = !message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && own) trouble.push(message.text());
  });
  page.on('dialog', (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await listen(page, context, heard);
  await openSignIn(page, url);
  await page.getByLabel('Key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Worklist', level: 1 }).waitFor();
  return { page, context, heard, trouble };
}

/**
 * Opens the sign-in page. Chromium aborts what it is loading when another test's network appears or
 * disappears, so the page is loaded again if necessary.
 */
export async function openSignIn(page: Page, url: string): Promise<void> {
  const field = page.getByLabel('Key', { exact: true });
  for (let tries = 0; tries < 3; tries += 1) {
    const shown = await page
      .goto(`${url}/console/`)
      .then(() => field.waitFor({ timeout: PATIENCE_MS }))
      .then(
        () => true,
        () => false,
      );
    if (shown) return;
  }
}

/** Records everything that arrives over the network, using the browser's own log. */
async function listen(page: Page, context: BrowserContext, heard: string[]): Promise<void> {
  const log = await context.newCDPSession(page);
  await log.send('Network.enable');
  log.on('Network.eventSourceMessageReceived', ({ data }) => heard.push(data));
  log.on('Network.loadingFinished', ({ requestId }) => {
    // If the browser has already discarded a body, it belonged to a page that was left.
    void log.send('Network.getResponseBody', { requestId }).then(
      ({ body }) => heard.push(body),
      () => undefined,
    );
  });
}
