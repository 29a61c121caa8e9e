import type { Session } from '../contract.ts';
import { openAccount } from './account.ts';
import { createApi, followChanges, type LiveStream, ProblemError } from './api.ts';
import { sentence } from './asking.ts';
import { openDeliveries } from './deliveries.ts';
import { openDisplay } from './display.ts';
import { frame } from './frame.ts';
import { openHolds } from './holds.ts';
import { html, render, type TemplateResult } from './html.ts';
import { type KeyBinding, startKeyboard } from './keyboard.ts';
import type { OpenPage, Page } from './page.ts';
import { openPeers } from './peers.ts';
import './plot.ts';
import { applyScheme, chosenScheme, createSpeaker } from './frame.ts';
import { type Place, placeOf, type RouteName, startRouter } from './router.ts';
import { openRules } from './rules.ts';
import { afterSignIn, openSignIn, type SignInPage } from './sign-in.ts';
import { openStudy } from './study.ts';
import { openWorklist } from './worklist.ts';

/** Milliseconds between redraws, which keep texts such as "in 20 s" and "3 min ago" current. */
const CLOCK_MS = 5000;

const PAGES: Readonly<Record<RouteName, OpenPage>> = {
  worklist: openWorklist,
  study: openStudy,
  display: openDisplay,
  deliveries: openDeliveries,
  holds: openHolds,
  rules: openRules,
  peers: openPeers,
  account: openAccount,
};

/** Renders the console into `root` and keeps it up to date. */
function startConsole(root: HTMLElement): void {
  const speaker = createSpeaker();
  const api = createApi(() => session?.csrf ?? '', leave);
  let session: Session | null = null;
  let page: Page | null = null;
  let place = placeOf(new URL(location.href));
  let signIn: SignInPage | null = null;
  let stream: LiveStream | null = null;
  let keysShown = false;
  let due = false;
  /**
   * The element that had the focus when a link opened another page; null once that page's heading
   * has the focus.
   */
  let focusedBefore: Element | null = null;

  function redraw(): void {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      draw();
    });
  }

  function draw(): void {
    document.title = page ? `${page.title()} · Sonogate` : 'Sonogate';
    render(content(), root);
    focusHeading();
  }

  /**
   * Moves the focus to the heading of a page that was just opened, so that a screen reader begins
   * there. If the person has moved the focus in the meantime, it stays.
   */
  function focusHeading(): void {
    const heading = focusedBefore && root.querySelector<HTMLElement>('main h1');
    if (!heading) return;
    const { activeElement } = document;
    if (activeElement === focusedBefore || activeElement === document.body) {
      heading.focus({ preventScroll: true });
    }
    focusedBefore = null;
  }

  function content(): TemplateResult {
    if (!session) return signIn?.view() ?? html``;
    return frame({
      session,
      name: place.name,
      content: page?.view() ?? html`<h1>This page does not exist</h1>`,
      connected: stream?.connected() ?? true,
      keys: keysShown ? bindings() : null,
      redraw,
      signOut: () => void api.signOut().finally(leave),
    });
  }

  function bindings(): readonly KeyBinding[] {
    if (!session) return [];
    const list: KeyBinding = {
      key: '?',
      does: 'show or hide this list',
      run() {
        keysShown = !keysShown;
        redraw();
      },
    };
    return [...(page?.keys ?? []), list];
  }

  function open(next: Place): void {
    place = next;
    if (page) focusedBefore = document.activeElement;
    page?.close?.();
    page = null;
    if (!session) return;
    const opened = next.name ? PAGES[next.name] : null;
    page = opened?.(next, { api, session, redraw, say: speaker.say, ...router }) ?? null;
    scrollTo(0, 0);
    redraw();
  }

  /**
   * Called when a person has signed in: opens the page at the current address and starts to receive
   * changes.
   */
  function enter(entered: Session): void {
    session = entered;
    signIn = null;
    stream?.close();
    stream = followChanges((event) => {
      if (event.type === 'session') void resume();
      else page?.changed?.(event);
    }, redraw);
    router.restate(afterSignIn(new URL(location.href)));
    open(placeOf(new URL(location.href)));
  }

  /** Called when the person is signed out: clears the screen. */
  function leave(): void {
    if (signIn) return;
    session = null;
    stream?.close();
    stream = null;
    page?.close?.();
    page = null;
    signIn = openSignIn(api, { redraw, signedIn: enter });
    redraw();
  }

  async function resume(): Promise<void> {
    try {
      enter(await api.session());
    } catch (error) {
      if (error instanceof ProblemError) return leave();
      render(html`<p class="problem" role="alert">${sentence(error)}</p>`, root);
    }
  }

  const router = startRouter(open);
  startKeyboard(bindings, draw);
  setInterval(() => {
    if (!document.hidden) redraw();
  }, CLOCK_MS);
  void resume();
}

applyScheme(chosenScheme());
const root = document.getElementById('console');
if (root) startConsole(root);
