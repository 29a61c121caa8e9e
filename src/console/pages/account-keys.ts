import type { ConsoleRole, CreatedKey, Key, NewKey } from '../contract.ts';
import { type Asking, sentence } from './asking.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { createLoader, shown } from './loading.ts';
import type { Surroundings } from './page.ts';
import { dateText, momentText } from './times.ts';
import { chip, given } from './words.ts';

const SCOPES = {
  run: 'submit and cancel',
  read: 'read results',
  uploads: 'upload files',
  admin: 'administer keys',
} as const satisfies Record<NewKey['scopes'][number], string>;
const SCOPE_NAMES = Object.keys(SCOPES) as NewKey['scopes'];

const ROLES = {
  viewer: 'Viewer: no identity',
  clinician: 'Clinician',
  operator: 'Operator: initials',
  administrator: 'Administrator',
} as const satisfies Record<ConsoleRole, string>;

const isRole = (text: string): text is ConsoleRole => Object.hasOwn(ROLES, text);

/** Pure: the key that a filled form asks for. */
function newKeyOf(form: FormData): NewKey {
  const role = String(form.get('role') ?? '');
  const day = String(form.get('expires') ?? '');
  const scopes = new Set(form.getAll('scopes').map(String));
  return {
    name: String(form.get('name') ?? '').trim(),
    test: form.has('test'),
    scopes: SCOPE_NAMES.filter((scope) => scopes.has(scope)),
    consoleRole: isRole(role) ? role : null,
    expiresAt: day === '' ? null : new Date(`${day}T23:59:59Z`).toISOString(),
  };
}

/** Keys of the account: made, shown once, revoked. */
export function keysPart({ api, redraw, say }: Surroundings, asking: Asking): () => TemplateResult {
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
      say('The key is made. It is shown this once.');
      await keys.load();
    } catch (error) {
      problem = sentence(error);
    }
    redraw();
  }

  function madeView({ key, secret }: CreatedKey): TemplateResult {
    return html`<div class="notice row">
      <span>Key <strong>${given(key.name)}</strong>, shown this once:</span>
      <code class="secret">${secret}</code>
      <button type="button" @click=${() => void navigator.clipboard.writeText(secret)}>Copy</button>
      <button type="button" class="plain" @click=${() => {
        made = null;
        redraw();
      }}>I have it</button>
    </div>`;
  }

  function keyView(key: Key): TemplateResult {
    const ended = key.revokedAt ?? key.expiresAt;
    return html`<tr>
      <th scope="row">${given(key.name)} ${key.test ? chip('quiet', 'Test') : nothing}</th>
      <td>${key.scopes.join(', ')}</td>
      <td>${key.consoleRole ?? html`<span class="soft">none</span>`}</td>
      <td class="moment">${dateText(key.createdAt)}</td>
      <td>${key.lastUsedAt ? momentText(key.lastUsedAt) : html`<span class="soft">never</span>`}</td>
      <td>
        ${key.revokedAt ? chip('quiet', 'Revoked') : ended ? `until ${dateText(ended)}` : chip('good', 'In use')}
      </td>
      <td>
        ${
          key.revokedAt
            ? nothing
            : asking.view({
                id: `revoke ${key.id}`,
                label: 'Revoke',
                question: `End the key ${key.name} for good?`,
                confirm: 'End it',
                danger: true,
                async run() {
                  await api.revokeKey(key.id);
                  await keys.load();
                  return `The key ${key.name} is revoked.`;
                },
              })
        }
      </td>
    </tr>`;
  }

  const form = (): TemplateResult => html`<details class="make">
    <summary>Make a key</summary>
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
        <label class="field"><span>Ends after (empty: never)</span><input name="expires" type="date" /></label>
      </div>
      <fieldset class="row">
        <legend>May</legend>
        ${SCOPE_NAMES.map(
          (scope) => html`<label class="tick">
            <input type="checkbox" name="scopes" value=${scope} ?checked=${scope === 'read'} /> ${SCOPES[scope]}
          </label>`,
        )}
        <label class="tick"><input type="checkbox" name="test" /> test key (mock results)</label>
      </fieldset>
      <button class="primary">Make the key</button>
    </form>
  </details>`;

  return () => html`<section class="panel" aria-labelledby="keys-head">
    <header><h2 id="keys-head">Keys</h2></header>
    ${made ? madeView(made) : nothing}
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing} ${form()}
    ${shown(
      keys,
      (all) => html`<div class="scrolls">
        <table>
          <thead>
            <tr>
              ${['Name', 'May', 'Role', 'Made', 'Last used', 'State'].map((text) => html`<th scope="col">${text}</th>`)}
              <th scope="col"><span class="hidden-text">What can be done</span></th>
            </tr>
          </thead>
          <tbody>${all.map(keyView)}</tbody>
        </table>
      </div>`,
    )}
  </section>`;
}
