import { access } from 'node:fs/promises';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** Where Debian installs it. */
const EXECUTABLE = '/usr/bin/chromium';

/** How long a page may take to show something on a machine that does other things too. */
const PATIENCE_MS = 100_000;

/** A real browser without a window; null where it is not installed. */
export async function startChromium(): Promise<Browser | null> {
  try {
    await access(EXECUTABLE);
  } catch {
    return null;
  }
  return chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox'] });
}

/** A user's browser window, with all responses it received and all errors in it. */
export interface Window {
  page: Page;
  context: BrowserContext;
  /** Bodies of all answers and all server-sent events, as text. */
  heard: string[];
  /** Exceptions, refusals of the content security policy and dialogs; empty when all is well. */
  trouble: string[];
}

/**
 * A new window that is signed in by the form, as a person does it. `free` lets scripts of a test set
 * styles that the content security policy forbids to the page.
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
    // The page itself reports an answer that is not a success.
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

/** A network of another test that comes or goes breaks off what Chromium loads; it is loaded again. */
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

/** Writes down what arrives over the network, as the browser's own log of it has it. */
async function listen(page: Page, context: BrowserContext, heard: string[]): Promise<void> {
  const log = await context.newCDPSession(page);
  await log.send('Network.enable');
  log.on('Network.eventSourceMessageReceived', ({ data }) => heard.push(data));
  log.on('Network.loadingFinished', ({ requestId }) => {
    // A body that the browser has thrown away belonged to a page that was left.
    void log.send('Network.getResponseBody', { requestId }).then(
      ({ body }) => heard.push(body),
      () => undefined,
    );
  });
}
