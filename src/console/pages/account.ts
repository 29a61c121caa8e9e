import { keysPart } from './account-keys.ts';
import { retentionPart, usagePart } from './account-usage.ts';
import { webhooksPart } from './account-webhooks.ts';
import { createAsking } from './asking.ts';
import { html } from './html.ts';
import type { OpenPage } from './page.ts';

/** What the account has: keys, webhooks, usage and cost, retention. */
export const openAccount: OpenPage = (_place, around) => {
  const asking = createAsking(around);
  const parts = [
    keysPart(around, asking),
    webhooksPart(around, asking),
    usagePart(around),
    retentionPart(around),
  ];
  return {
    title: () => 'Account',
    view: () => html`<div class="page-head">
        <h1 tabindex="-1">Account</h1>
        <span class="push">
          ${asking.view({
            id: 'everywhere',
            label: 'Sign out everywhere',
            question: 'End all sessions of yours, this one too?',
            async run() {
              await around.api.signOutEverywhere();
              location.reload();
              return 'Signed out everywhere.';
            },
          })}
        </span>
      </div>
      ${parts.map((part) => part())}`,
  };
};
