import type {
  ConsoleRole,
  CreatedKey,
  Key,
  NewKey,
  NewWebhookSecret,
  Page,
  Retention,
  Usage,
  WebhookDelivery,
  WebhookSecret,
} from '../contract.ts';
import { type Asking, createAsking, sentence } from './asking.ts';
import { deliveryStateChip } from './delivery-parts.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { createLoader, shown } from './loading.ts';
import type { OpenPage, Surroundings } from './page.ts';
import { chip, counted, dateText, given, momentText, monthText } from './words.ts';

const SCOPES = {
  run: 'submit and cancel',
  read: 'read results',
  uploads: 'upload files',
  store: 'send images',
  retrieve: 'search and retrieve images',
  review: 'review results',
  sign: 'sign results',
  admin: 'manage keys',
} as const satisfies Record<NewKey['scopes'][number], string>;
const SCOPE_NAMES = Object.keys(SCOPES) as NewKey['scopes'];

const permissionsText = ({ scopes }: Key): string =>
  SCOPE_NAMES.filter((name) => scopes.includes(name))
    .map((name) => SCOPES[name])
    .join(', ');

const ROLES = {
  viewer: 'Viewer (sees no identity)',
  clinician: 'Clinician',
  operator: 'Operator (sees initials)',
  administrator: 'Administrator',
} as const satisfies Record<ConsoleRole, string>;

const isRole = (text: string): text is ConsoleRole => Object.hasOwn(ROLES, text);

function newKeyOf(form: FormData): NewKey {
  const role = String(form.get('role') ?? '');
  const day = String(form.get('expires') ?? '');
  const scopes = new Set(form.getAll('scopes').map(String));
  return {
    name: String(form.get('name') ?? '').trim(),
    test: form.has('test'),
    scopes: SCOPE_NAMES.filter((scope) => scopes.has(scope)),
    consoleRole: isRole(role) ? role : null,
    expiresAt: day === '' ? null : endOf(day),
  };
}

/**
 * Returns the end of a day in the browser's time zone, because the page shows days in that zone.
 */
export const endOf = (day: string): string => new Date(`${day}T23:59:59`).toISOString();

/** Renders whether a key can still be used. */
function keyState({ revokedAt, expiresAt }: Key): TemplateResult {
  if (revokedAt) return chip('quiet', 'Revoked');
  if (!expiresAt) return chip('good', 'In use');
  const expired = Date.parse(expiresAt) <= Date.now();
  return expired
    ? chip('quiet', `Expired on ${dateText(expiresAt)}`)
    : chip('good', `In use until ${dateText(expiresAt)}`);
}

/** Renders one key; `revoke` is its revoke button, if the key can be revoked. */
function keyRow(key: Key, revoke: TemplateResult | typeof nothing): TemplateResult {
  return html`<tr>
    <th scope="row">${given(key.name)} ${key.test ? chip('quiet', 'Test') : nothing}</th>
    <td data-label="Permissions">${permissionsText(key) || html`<span class="soft">console only</span>`}</td>
    <td data-label="Role">${key.consoleRole ? ROLES[key.consoleRole] : html`<span class="soft">no sign-in</span>`}</td>
    <td data-label="Created" class="moment">${dateText(key.createdAt)}</td>
    <td data-label="Last used">${key.lastUsedAt ? momentText(key.lastUsedAt) : html`<span class="soft">never</span>`}</td>
    <td data-label="State">
      ${keyState(key)}
    </td>
    <td>
      ${revoke}
    </td>
  </tr>`;
}

const keyForm = (
  create: (event: SubmitEvent) => Promise<void>,
): TemplateResult => html`<details class="make">
  <summary>Create a key</summary>
  <form @submit=${create}>
    <div class="row">
      <label class="field"><span>Name</span><input name="name" required maxlength="100" /></label>
      <label class="field">
        <span>Role in the console</span>
        <select name="role">
          <option value="">None</option>
          ${Object.entries(ROLES).map(([role, text]) => html`<option value=${role}>${text}</option>`)}
        </select>
      </label>
      <label class="field"><span>Expires after (empty: never)</span><input name="expires" type="date" /></label>
    </div>
    <fieldset class="row">
      <legend>Permissions</legend>
      ${SCOPE_NAMES.map(
        (scope) => html`<label class="tick">
          <input type="checkbox" name="scopes" value=${scope} ?checked=${scope === 'read'} /> ${SCOPES[scope]}
        </label>`,
      )}
      <label class="tick"><input type="checkbox" name="test" /> test key (mock results)</label>
    </fieldset>
    <button class="primary">Create the key</button>
  </form>
</details>`;

/** Renders the account's keys, which can be created and revoked. A new key is shown once. */
function keysPart({ api, redraw, say }: Surroundings, asking: Asking): () => TemplateResult {
  const keys = createLoader<Key[]>(() => api.keys(), redraw);
  let made: CreatedKey | null = null;
  let problem: string | null = null;
  void keys.load();

  async function create(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const { target } = event;
    if (!(target instanceof HTMLFormElement)) return;
    try {
      made = await api.createKey(newKeyOf(new FormData(target)));
      problem = null;
      target.reset();
      say('The key was created. It is shown only once.');
      await keys.load();
    } catch (error) {
      problem = sentence(error);
    }
    redraw();
  }

  function madeView({ key, secret }: CreatedKey): TemplateResult {
    return html`<div class="notice row">
      <span>Key <strong>${given(key.name)}</strong>, shown only once:</span>
      <code class="secret">${secret}</code>
      ${
        // Browsers offer the clipboard only to pages loaded over HTTPS or from this computer.
        isSecureContext
          ? html`<button type="button" @click=${() => void navigator.clipboard.writeText(secret)}>Copy</button>`
          : nothing
      }
      <button type="button" class="plain" @click=${() => {
        made = null;
        redraw();
      }}>I have copied it</button>
    </div>`;
  }

  const revokeView = (key: Key): TemplateResult | typeof nothing =>
    key.revokedAt
      ? nothing
      : asking.view({
          id: `revoke ${key.id}`,
          label: 'Revoke',
          question: `Revoke the key ${key.name} permanently?`,
          danger: true,
          async run() {
            await api.revokeKey(key.id);
            await keys.load();
            return `The key ${key.name} has been revoked.`;
          },
        });

  return () => html`<section class="panel" aria-labelledby="keys-head">
    <header><h2 id="keys-head">Keys</h2></header>
    ${made ? madeView(made) : nothing}
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing} ${keyForm(create)}
    ${shown(
      keys,
      (all) => html`<div class="scrolls">
        <table class="as-cards">
          <thead>
            <tr>
              ${['Name', 'Permissions', 'Role', 'Created', 'Last used', 'State'].map((text) => html`<th scope="col">${text}</th>`)}
              <th scope="col"><span class="hidden-text">What can be done</span></th>
            </tr>
          </thead>
          <tbody>${all.map((key) => keyRow(key, revokeView(key)))}</tbody>
        </table>
      </div>`,
    )}
  </section>`;
}

function usagePart({ api, redraw }: Surroundings): () => TemplateResult {
  const usage = createLoader<Usage[]>(() => api.usage(), redraw);
  void usage.load();
  const rowView = ({ month, key, requests, succeeded, cost }: Usage) => html`<tr>
    <th scope="row">${monthText(month)}</th>
    <td data-label="Key">${key ? given(key.name) : html`<span class="soft">studies received by DICOM</span>`}</td>
    <td data-label="Requests" class="number">${requests.toLocaleString('en')}</td>
    <td data-label="Succeeded" class="number">${succeeded.toLocaleString('en')}</td>
    <td data-label="Cost" class="number">${cost.total} ${cost.currency}</td>
  </tr>`;
  return () => html`<section class="panel" aria-labelledby="usage-head">
    <header><h2 id="usage-head">Usage and cost</h2></header>
    ${shown(usage, (all) =>
      all.length === 0
        ? html`<p class="soft">No requests yet.</p>`
        : html`<div class="scrolls">
            <table class="as-cards">
              <thead>
                <tr>
                  <th scope="col">Month</th>
                  <th scope="col">Key</th>
                  <th scope="col" class="number">Requests</th>
                  <th scope="col" class="number">Succeeded</th>
                  <th scope="col" class="number">Cost</th>
                </tr>
              </thead>
              <tbody>${all.map(rowView)}</tbody>
            </table>
          </div>`,
    )}
  </section>`;
}

function retentionPart({ api, redraw }: Surroundings): () => TemplateResult {
  const retention = createLoader<Retention>(() => api.retention(), redraw);
  void retention.load();
  return () => html`<section class="panel" aria-labelledby="retention-head">
    <header><h2 id="retention-head">Retention</h2></header>
    ${shown(
      retention,
      ({ days, kept, nextPurgeAt, purged, oldestResultAt }) => html`<dl class="facts">
        <dt>Results are kept for</dt>
        <dd>${counted(days, 'day')}</dd>
        <dt>Results stored</dt>
        <dd>${kept.toLocaleString('en')}${oldestResultAt ? `, the oldest from ${dateText(oldestResultAt)}` : ''}</dd>
        ${nextPurgeAt ? html`<dt>Next deletion</dt><dd>${dateText(nextPurgeAt)}</dd>` : nothing}
        <dt>Deleted so far</dt>
        <dd>${purged.toLocaleString('en')}</dd>
      </dl>`,
    )}
  </section>`;
}

function attemptsView({ attempts }: WebhookDelivery): TemplateResult {
  return html`<details>
    <summary>${counted(attempts.length, 'attempt')}</summary>
    <ul class="small">
      ${attempts.map(
        ({ at, status, durationMs, answerBytes, error }) =>
          html`<li>${momentText(at)}: ${status ?? 'no response'} in ${durationMs} ms, ${answerBytes} bytes
            ${error ? html`<span class="soft">${given(error)}</span>` : nothing}</li>`,
      )}
    </ul>
  </details>`;
}

function webhookView(
  one: WebhookDelivery,
  sendAgain: (delivery: WebhookDelivery) => TemplateResult,
): TemplateResult {
  const ended = one.state !== 'pending' && one.state !== 'sending';
  return html`<tr>
    <th scope="row">${one.event}<span class="second">${momentText(one.createdAt)}</span></th>
    <td class="url">${given(one.url)}</td>
    <td>
      ${deliveryStateChip(one.state)}
      ${one.error && one.state !== 'delivered' ? html`<span class="second">${one.error.title}</span>` : nothing}
      ${one.disabledAt ? html`<span class="second">address disabled</span>` : nothing}
    </td>
    <td>${attemptsView(one)}</td>
    <td>${ended ? sendAgain(one) : nothing}</td>
  </tr>`;
}

function webhooksView(
  rows: readonly WebhookDelivery[],
  sendAgain: (delivery: WebhookDelivery) => TemplateResult,
): TemplateResult {
  if (rows.length === 0) return html`<p class="soft">No webhooks have been sent.</p>`;
  return html`<div class="scrolls">
    <table class="as-cards">
      <thead>
        <tr>
          ${['Event', 'Address', 'State', 'Attempts'].map((text) => html`<th scope="col">${text}</th>`)}
          <th scope="col"><span class="hidden-text">What can be done</span></th>
        </tr>
      </thead>
      <tbody>${rows.map((one) => webhookView(one, sendAgain))}</tbody>
    </table>
  </div>`;
}

function webhooksPart({ api, redraw }: Surroundings, asking: Asking): () => TemplateResult {
  const secret = createLoader<WebhookSecret>(() => api.webhookSecret(), redraw);
  const deliveries = createLoader<Page<WebhookDelivery>>(
    () => api.webhookDeliveries({ limit: 20 }),
    redraw,
  );
  let made: NewWebhookSecret | null = null;
  void secret.load();
  void deliveries.load();

  const sendAgain = ({ id }: WebhookDelivery) =>
    asking.view({
      id: `redeliver ${id}`,
      label: 'Send again',
      question: 'Send this webhook again?',
      async run() {
        await api.redeliver(id);
        await deliveries.load();
        return 'The webhook will be sent again.';
      },
    });

  return () => html`<section class="panel" aria-labelledby="webhooks-head">
    <header>
      <h2 id="webhooks-head">Webhooks</h2>
      ${secret.value ? html`<span class="small soft">signing secret from ${dateText(secret.value.createdAt)}</span>` : nothing}
      <span class="push">
        ${asking.view({
          id: 'rotate',
          label: 'New signing secret',
          question: 'Create a new secret? Receivers need it to verify signatures.',
          async run() {
            made = await api.rotateWebhookSecret();
            await secret.load();
            return 'A new secret was created. It is shown only once.';
          },
        })}
      </span>
    </header>
    ${
      made
        ? html`<div class="notice row">
            <span>Secret, shown only once:</span> <code class="secret">${made.secret}</code>
            <button type="button" class="plain" @click=${() => {
              made = null;
              redraw();
            }}>I have copied it</button>
          </div>`
        : nothing
    }
    ${shown(deliveries, ({ rows }) => webhooksView(rows, sendAgain))}
  </section>`;
}

/** Opens the account page: keys, webhooks, usage and cost, retention. */
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
      </div>
      ${parts.map((part) => part())}`,
  };
};
