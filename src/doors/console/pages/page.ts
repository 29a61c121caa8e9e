import type { Capability, ConsoleEvent, Session } from '../contract.ts';
import type { Api } from './api.ts';
import type { TemplateResult } from './html.ts';
import type { KeyBinding } from './keyboard.ts';
import type { Place } from './router.ts';

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

export function may({ session }: Surroundings, capability: Capability): boolean {
  return session.may.includes(capability);
}
