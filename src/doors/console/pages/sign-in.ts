import type { Session, SignIn } from '../contract.ts';
import { API, type Api, withQuery } from './api.ts';
import { sentence } from './asking.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { addressOf } from './router.ts';

/** The address to which the server redirects after a failed sign-in. */
const SIGN_IN = '/console/sign-in';

export interface SignInPage {
  view(): TemplateResult;
}

/** Describes why a sign-in with the identity provider failed; null if it did not fail. */
function signInFailure(url: URL): string | null {
  const code = url.searchParams.get('error');
  if (url.pathname !== SIGN_IN || !code) return null;
  return code === 'forbidden'
    ? 'The identity provider recognised you but does not give you a role in this console.'
    : `The identity provider did not sign you in (${code}). Try again, or use a key.`;
}

/** Returns the address to open after signing in: the requested one, or the worklist. */
export function afterSignIn(url: URL): string {
  return url.pathname === SIGN_IN ? addressOf('worklist') : url.pathname + url.search;
}

/**
 * Opens the page for people who are not signed in; the requested address stays in the address bar.
 */
export function openSignIn(
  api: Api,
  { redraw, signedIn }: { redraw(): void; signedIn(session: Session): void },
): SignInPage {
  let offered: SignIn | null = null;
  let problem = signInFailure(new URL(location.href));
  let busy = false;

  void api.signIn().then(
    (answer) => {
      offered = answer;
      redraw();
    },
    (error) => {
      problem = sentence(error);
      redraw();
    },
  );

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (!(event.target instanceof HTMLFormElement)) return;
    const key = String(new FormData(event.target).get('key') ?? '').trim();
    busy = true;
    redraw();
    try {
      signedIn(await api.signInByKey(key));
    } catch (error) {
      problem = sentence(error);
    }
    busy = false;
    redraw();
  }

  return {
    view: () => html`<main class="panel sign-in" id="main">
      <h1>Sonogate</h1>
      <p class="soft">Ultrasound report drafts and their deliveries.</p>
      ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
      <form @submit=${submit}>
        <label class="field">
          <span>Key</span>
          <input name="key" type="password" autocomplete="current-password" required />
        </label>
        <div class="row">
          <button class="primary" ?disabled=${busy}>Sign in</button>
          ${
            offered?.oidc
              ? html`<a
                  class="button"
                  target="_self"
                  href=${withQuery(`${API}/oidc/start`, { next: afterSignIn(new URL(location.href)) })}
                >
                  ${offered.oidc.label}
                </a>`
              : nothing
          }
        </div>
      </form>
    </main>`,
  };
}
