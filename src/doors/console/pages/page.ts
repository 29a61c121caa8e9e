import type { Capability, ConsoleEvent, Session } from '../contract.ts';
import type { Api } from './api.ts';
import { html, type TemplateResult } from './html.ts';
import type { KeyBinding } from './keyboard.ts';
import type { Place, RouteName } from './router.ts';
import { empty } from './words.ts';

export interface Surroundings {
  api: Api;
  session: Session;
  /** Redraws the page, at most once per frame of the screen. */
  redraw(): void;
  go(address: string): void;
  /** Changes the address without opening the page again. */
  restate(address: string): void;
  /** Announces a change to assistive technology; `now` interrupts the current announcement. */
  say(text: string, how?: 'calmly' | 'now'): void;
}

export interface Page {
  /** Title for the tab and the first heading. */
  title(): string;
  view(): TemplateResult;
  /** Called when an event from the gateway arrives. */
  changed?(event: ConsoleEvent): void;
  keys?: readonly KeyBinding[];
  /** Called when another page is opened. */
  close?(): void;
}

export type OpenPage = (place: Place, around: Surroundings) => Page;

/** The capability without which a page has nothing to show. */
const NEEDED = {
  worklist: 'read',
  study: 'read',
  display: 'read',
  deliveries: 'read',
  holds: 'read',
  rules: 'rules',
  peers: 'peers',
  account: 'settings',
} as const satisfies Record<RouteName, Capability>;

export const mayOpen = ({ may }: Pick<Session, 'may'>, name: RouteName): boolean =>
  may.includes(NEEDED[name]);

/** Opens the page shown in place of one that is for other roles. */
export const openForOtherRoles: OpenPage = (_place, { session }) => ({
  title: () => 'Not available',
  view: () => html`<div class="page-head"><h1 tabindex="-1">Not available</h1></div>
    ${empty(`You are signed in as ${session.role}, and this page is for other roles.`)}`,
});

export function may({ session }: Surroundings, capability: Capability): boolean {
  return session.may.includes(capability);
}
