import type { Capability, ConsoleEvent, Session } from '../contract.ts';
import type { Api } from './api.ts';
import type { TemplateResult } from './html.ts';
import type { KeyBinding } from './keyboard.ts';
import type { Place } from './router.ts';

/** What a page may use of the console around it. */
export interface Surroundings {
  api: Api;
  session: Session;
  /** Draws the page again, at most once per frame of the screen. */
  redraw(): void;
  go(address: string): void;
  /** Changes the address without opening the page anew. */
  restate(address: string): void;
  /** Says a change to those who do not see it; `now` interrupts. */
  say(text: string, how?: 'calmly' | 'now'): void;
}

/** An open page. It keeps its state in its closure and is drawn anew from it. */
export interface Page {
  /** For the tab and the first heading. */
  title(): string;
  view(): TemplateResult;
  /** Something changed at the gateway. */
  changed?(event: ConsoleEvent): void;
  keys?: readonly KeyBinding[];
  /** Called when another page is opened. */
  close?(): void;
}

export type OpenPage = (place: Place, around: Surroundings) => Page;

export function may({ session }: Surroundings, capability: Capability): boolean {
  return session.may.includes(capability);
}
