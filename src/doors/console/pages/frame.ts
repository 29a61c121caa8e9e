import type { Session } from '../contract.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import type { KeyBinding } from './keyboard.ts';
import { mayOpen } from './page.ts';
import { addressOf, type RouteName } from './router.ts';
import { given } from './words.ts';

/** `auto` follows the system (`prefers-color-scheme`). */
const SCHEMES = { auto: 'Same as the system', light: 'Light', dark: 'Dark' } as const;
type Scheme = keyof typeof SCHEMES;

const STORED_AS = 'sonogate-scheme';

/** Returns the colour scheme chosen in this browser. */
export function chosenScheme(): Scheme {
  const stored = localStorage.getItem(STORED_AS);
  return stored === 'light' || stored === 'dark' ? stored : 'auto';
}

function chooseScheme(scheme: Scheme): void {
  localStorage.setItem(STORED_AS, scheme);
  applyScheme(scheme);
}

export function applyScheme(scheme: Scheme): void {
  if (scheme === 'auto') delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = scheme;
}

function schemeSwitch(redraw: () => void): TemplateResult {
  const chosen = chosenScheme();
  return html`<label class="field">
    <span>Colours</span>
    <select
      @change=${(event: Event) => {
        if (event.target instanceof HTMLSelectElement) chooseScheme(event.target.value as Scheme);
        redraw();
      }}
    >
      ${Object.entries(SCHEMES).map(
        ([scheme, text]) =>
          html`<option value=${scheme} ?selected=${scheme === chosen}>${text}</option>`,
      )}
    </select>
  </label>`;
}

const LINKS: readonly { name: RouteName; text: string }[] = [
  { name: 'worklist', text: 'Worklist' },
  { name: 'deliveries', text: 'Deliveries' },
  { name: 'holds', text: 'Held' },
  { name: 'rules', text: 'Rules' },
  { name: 'peers', text: 'Peers' },
  { name: 'account', text: 'Account' },
];

interface Frame {
  session: Session;
  name: RouteName | null;
  content: TemplateResult;
  connected: boolean;
  /** The current key bindings; null while their list is closed. */
  keys: readonly KeyBinding[] | null;
  redraw(): void;
  signOut(): void;
  /** The button that ends all sessions of this person. */
  signOutEverywhere: TemplateResult;
}

function navigation({ session, name }: Frame): TemplateResult {
  const offered = LINKS.filter((link) => mayOpen(session, link.name));
  const open = name === 'study' ? 'worklist' : name;
  return html`<nav aria-label="Console">
    <ul>
      ${offered.map(
        (link) => html`<li>
          <a href=${addressOf(link.name)} aria-current=${link.name === open ? 'page' : nothing}>
            ${link.text}
          </a>
        </li>`,
      )}
    </ul>
  </nav>`;
}

function menu({ session, redraw, signOut, signOutEverywhere }: Frame): TemplateResult {
  return html`<details class="menu" @focusout=${closeWhenLeft}>
    <summary><span>${given(session.person)}</span></summary>
    <div class="panel">
      <p class="small soft">Signed in as ${session.role}, by ${session.signedInBy === 'oidc' ? 'the identity provider' : 'key'}</p>
      ${schemeSwitch(redraw)}
      <button type="button" @click=${signOut}>Sign out</button>
      ${signOutEverywhere}
    </div>
  </details>`;
}

function closeWhenLeft({ currentTarget, relatedTarget }: FocusEvent): void {
  if (!(currentTarget instanceof HTMLDetailsElement) || !(relatedTarget instanceof Node)) return;
  if (!currentTarget.contains(relatedTarget)) currentTarget.open = false;
}

/** Labels of keys whose name in the browser differs from the text on the keyboard. */
const KEY_NAMES: Readonly<Record<string, string>> = {
  ' ': 'Space',
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
};

/** Renders the list of the page's keys, in a corner where it covers no control. */
function keyList(keys: readonly KeyBinding[]): TemplateResult {
  return html`<section class="panel keys" aria-label="Keys" tabindex="0">
    <h2>Keys</h2>
    <dl>
      ${keys.map(
        ({ key, does }) => html`<dt><kbd>${KEY_NAMES[key] ?? key}</kbd></dt>
          <dd>${does}</dd>`,
      )}
    </dl>
  </section>`;
}

/** Renders the frame around every page: skip link, bar and the page itself. */
export function frame(parts: Frame): TemplateResult {
  const { connected, content, keys } = parts;
  return html`<a class="skip" href="#main">Skip to the content</a>
    <header class="bar">
      <a class="brand" href=${addressOf('worklist')}>Sonogate</a>
      ${navigation(parts)}
      <span class=${connected ? 'stream push' : 'stream broken push'} role="status">
        ${connected ? 'Live' : 'Not connected'}
      </span>
      ${menu(parts)}
    </header>
    <main id="main" tabindex="-1">${content}</main>
    ${keys ? keyList(keys) : nothing}`;
}

/**
 * Announces changes to assistive technology (WCAG 4.1.3), independently of the parts that are
 * redrawn.
 */
interface Speaker {
  say(text: string, how?: 'calmly' | 'now'): void;
}

/**
 * Creates the two live regions once, in advance: a text change is announced only if its region
 * already exists.
 */
export function createSpeaker(): Speaker {
  const regions = { calmly: region('polite'), now: region('assertive') };
  return {
    say(text, how = 'calmly') {
      // A repeated text is announced only if it is in a new node.
      regions[how].replaceChildren(document.createTextNode(text));
    },
  };
}

function region(politeness: 'polite' | 'assertive'): HTMLElement {
  const element = document.createElement('div');
  element.className = 'hidden-text';
  element.setAttribute('aria-live', politeness);
  document.body.append(element);
  return element;
}
