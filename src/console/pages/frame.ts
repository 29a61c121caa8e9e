import type { Capability, Session } from '../contract.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import type { KeyBinding } from './keyboard.ts';
import { addressOf, type RouteName } from './router.ts';
import { schemeSwitch } from './scheme.ts';

/** Pages of the bar, and what a role needs for each. */
const LINKS: readonly { name: RouteName; text: string; needs: Capability }[] = [
  { name: 'worklist', text: 'Worklist', needs: 'read' },
  { name: 'deliveries', text: 'Deliveries', needs: 'read' },
  { name: 'holds', text: 'Held', needs: 'read' },
  { name: 'rules', text: 'Rules', needs: 'rules' },
  { name: 'peers', text: 'Peers', needs: 'peers' },
  { name: 'account', text: 'Account', needs: 'settings' },
];

export interface Frame {
  session: Session;
  /** The page that is open. */
  name: RouteName | null;
  content: TemplateResult;
  connected: boolean;
  /** Keys that hold now; null while their list is closed. */
  keys: readonly KeyBinding[] | null;
  redraw(): void;
  signOut(): void;
}

function navigation({ session, name }: Frame): TemplateResult {
  const offered = LINKS.filter(({ needs }) => session.may.includes(needs));
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

/** The keys of the page, in a corner that covers no control of it. */
function keyList(keys: readonly KeyBinding[]): TemplateResult {
  return html`<section class="panel keys" aria-label="Keys">
    <h2>Keys</h2>
    <dl>
      ${keys.map(
        ({ key, does }) => html`<dt><kbd>${key === ' ' ? 'Space' : key}</kbd></dt>
          <dd>${does}</dd>`,
      )}
    </dl>
  </section>`;
}

/** What stands around every page: skip link, bar, and the room for the page itself. */
export function frame(parts: Frame): TemplateResult {
  const { session, connected, content, keys, redraw, signOut } = parts;
  return html`<a class="skip" href="#main">Skip to the content</a>
    <header class="bar">
      <a class="brand" href=${addressOf('worklist')}>Sonogate</a>
      ${navigation(parts)}
      <span class=${connected ? 'stream push' : 'stream broken push'} role="status">
        ${connected ? 'Live' : 'Not connected'}
      </span>
      <span class="who"><bdi>${session.person}</bdi>, ${session.role}</span>
      ${schemeSwitch(redraw)}
      <button type="button" class="plain" @click=${signOut}>Sign out</button>
    </header>
    <main id="main" tabindex="-1">${content}</main>
    ${keys ? keyList(keys) : nothing}`;
}
