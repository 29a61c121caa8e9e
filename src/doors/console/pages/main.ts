import type { Session } from '../contract.ts';
import { openAccount } from './account.ts';
import { type Api, createApi, followChanges, type LiveStream, ProblemError } from './api.ts';
import { type Asking, createAsking, sentence } from './asking.ts';
import { openDeliveries } from './deliveries.ts';
import { openDisplay } from './display.ts';
import { applyScheme, chosenScheme, createSpeaker, frame } from './frame.ts';
import { openHolds } from './holds.ts';
import { html, nothing, render, type TemplateResult } from './html.ts';
import { type KeyBinding, startKeyboard } from './keyboard.ts';
import { mayOpen, type OpenPage, openForOtherRoles, type Page, type Surroundings } from './page.ts';
import { openPeers } from './peers.ts';
import './plot.ts';
import { type Place, placeOf, type RouteName, type Router, startRouter } from './router.ts';
import { openRules } from './rules.ts';
import { afterSignIn, openSignIn, type SignInPage } from './sign-in.ts';
import { openStudy } from './study.ts';
import { openWorklist } from './worklist.ts';

/** Milliseconds between redraws, which keep texts such as "in 20 s" and "3 min ago" current. */
const CLOCK_MS = 5000;

/** Milliseconds before the gateway is called again if it could not be reached at the start. */
const RETRY_MS = 5000;

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

/** The console in the browser: it renders the open page into `root` and keeps it up to date. */
class WebConsole {
  readonly #root: HTMLElement;
  readonly #speaker = createSpeaker();
  readonly #api: Api;
  readonly #router: Router;
  #session: Session | null = null;
  #page: Page | null = null;
  #place = placeOf(new URL(location.href));
  #signIn: SignInPage | null = null;
  /** Why nothing can be shown yet; null once the gateway has answered. */
  #problem: string | null = null;
  #stream: LiveStream | null = null;
  #keysShown = false;
  #redrawDue = false;
  readonly #asking: Asking;
  /**
   * The element that had the focus when a link opened another page; null once that page's heading
   * has the focus.
   */
  #focusedBefore: Element | null = null;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#asking = createAsking({ redraw: this.#redraw, say: this.#speaker.say });
    this.#api = createApi({
      csrf: () => this.#session?.csrf ?? '',
      signedOut: () => this.#leave(),
    });
    this.#router = startRouter((place) => this.#open(place));
  }

  start(): void {
    startKeyboard(
      () => this.#bindings(),
      () => this.#draw(),
    );
    setInterval(() => {
      if (!document.hidden) this.#redraw();
    }, CLOCK_MS);
    void this.#resume();
  }

  readonly #redraw = (): void => {
    if (this.#redrawDue) return;
    this.#redrawDue = true;
    requestAnimationFrame(() => {
      this.#redrawDue = false;
      this.#draw();
    });
  };

  #draw(): void {
    document.title = this.#page ? `${this.#page.title()} · Sonogate` : 'Sonogate';
    render(this.#content(), this.#root);
    this.#focusHeading();
  }

  /**
   * Moves the focus to the heading of a page that was just opened, so that a screen reader begins
   * there. If the person has moved the focus in the meantime, it stays.
   */
  #focusHeading(): void {
    const before = this.#focusedBefore;
    const heading = before && this.#root.querySelector<HTMLElement>('main h1');
    if (!heading) return;
    const { activeElement } = document;
    if (activeElement === before || activeElement === document.body) {
      heading.focus({ preventScroll: true });
    }
    this.#focusedBefore = null;
  }

  #content(): TemplateResult {
    if (!this.#session) return this.#signIn?.view() ?? problemView(this.#problem);
    return frame({
      session: this.#session,
      name: this.#place.name,
      content: this.#page?.view() ?? html`<h1>This page does not exist</h1>`,
      connected: this.#stream?.connected() ?? true,
      keys: this.#keysShown ? this.#bindings() : null,
      redraw: this.#redraw,
      signOut: () => void this.#api.signOut().finally(() => this.#leave()),
      signOutEverywhere: this.#asking.view({
        id: 'sign out everywhere',
        label: 'Sign out everywhere',
        question: 'Sign out on every device, including this one?',
        run: async () => {
          await this.#api.signOutEverywhere();
          this.#leave();
          return 'Signed out everywhere.';
        },
      }),
    });
  }

  #bindings(): readonly KeyBinding[] {
    if (!this.#session) return [];
    const list: KeyBinding = {
      key: '?',
      does: 'show or hide this list',
      run: () => {
        this.#keysShown = !this.#keysShown;
        this.#redraw();
      },
    };
    return [...(this.#page?.keys ?? []), list];
  }

  #open(place: Place): void {
    this.#place = place;
    if (this.#page) this.#focusedBefore = document.activeElement;
    this.#closePage();
    if (!this.#session) return;
    const session = this.#session;
    const { name } = place;
    const open = name && (mayOpen(session, name) ? PAGES[name] : openForOtherRoles);
    this.#page = open?.(place, this.#surroundings(session)) ?? null;
    scrollTo(0, 0);
    this.#redraw();
  }

  #surroundings(session: Session): Surroundings {
    const { say } = this.#speaker;
    return { api: this.#api, session, redraw: this.#redraw, say, ...this.#router };
  }

  #closePage(): void {
    this.#page?.close?.();
    this.#page = null;
  }

  /**
   * Called when a person has signed in: opens the page at the current address and starts to receive
   * changes.
   */
  #enter(session: Session): void {
    this.#session = session;
    this.#signIn = null;
    this.#stream?.close();
    this.#stream = followChanges({
      changed: (event) => {
        if (event.type === 'session') void this.#resume();
        else this.#page?.changed?.(event);
      },
      turned: this.#redraw,
      // This call finds out whether the session has ended. If so, the sign-in page opens.
      refused: () => void this.#api.session().catch(() => {}),
    });
    this.#router.restate(afterSignIn(new URL(location.href)));
    this.#open(placeOf(new URL(location.href)));
  }

  /** Called when the person is signed out: clears the screen. */
  #leave(): void {
    if (this.#signIn) return;
    this.#session = null;
    this.#stream?.close();
    this.#stream = null;
    this.#closePage();
    const signedIn = (session: Session) => this.#enter(session);
    this.#signIn = openSignIn(this.#api, { redraw: this.#redraw, signedIn });
    this.#redraw();
  }

  async #resume(): Promise<void> {
    try {
      this.#enter(await this.#api.session());
      this.#problem = null;
    } catch (error) {
      if (error instanceof ProblemError && error.problem.status === 401) return this.#leave();
      this.#problem = sentence(error);
      setTimeout(() => void this.#resume(), RETRY_MS);
      this.#redraw();
    }
  }
}

const problemView = (problem: string | null): TemplateResult =>
  html`${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}`;

applyScheme(chosenScheme());
const root = document.getElementById('console');
if (root) new WebConsole(root).start();
