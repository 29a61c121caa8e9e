import type { Session, SignIn } from '../contract.ts';
import { API, type Api, withQuery } from './api.ts';
import { sentence } from './asking.ts';
import { html, nothing, type TemplateResult } from './html.ts';

export interface SignInPage {
  view(): TemplateResult;
}

/** The page of those who are not signed in; the address they wanted stays in the address bar. */
export function openSignIn(
  api: Api,
  { redraw, signedIn }: { redraw(): void; signedIn(session: Session): void },
): SignInPage {
  let offered: SignIn | null = null;
  let problem: string | null = null;
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
      <p class="soft">Drafts of ultrasound reports, and where they went.</p>
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
                  href=${withQuery(`${API}/oidc/start`, { next: location.pathname + location.search })}
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
