export interface Place {
  /** Name of the route; null if there is no page at this address. */
  name: RouteName | null;
  /** The value of `:id`; '' if the route has none. */
  id: string;
  query: URLSearchParams;
}

const ROUTES = {
  worklist: '/console/worklist',
  study: '/console/worklist/:id',
  /** The path prescribed by the Invoke Image Display profile (IHE RAD-106). */
  display: '/console/IHEInvokeImageDisplay',
  deliveries: '/console/deliveries',
  holds: '/console/holds',
  rules: '/console/rules',
  peers: '/console/peers',
  account: '/console/account',
} as const;
export type RouteName = keyof typeof ROUTES;

const NAMES = Object.keys(ROUTES) as RouteName[];

/** Returns the page at an address. */
export function placeOf(url: URL): Place {
  const path = url.pathname.replace(/\/+$/, '');
  if (path === '/console') return { name: 'worklist', id: '', query: url.searchParams };
  for (const name of NAMES) {
    const [before = '', after] = ROUTES[name].split(':id');
    if (after === undefined ? path === before : path.startsWith(before) && path !== before) {
      const id = after === undefined ? '' : decoded(path.slice(before.length));
      return { name, id, query: url.searchParams };
    }
  }
  return { name: null, id: '', query: url.searchParams };
}

/** Decodes a part of an address; malformed text is returned unchanged. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns a page's address, with the non-empty values as its query. */
export function addressOf(
  name: RouteName,
  { id = '', query = {} }: { id?: string; query?: Record<string, string> } = {},
): string {
  const path = ROUTES[name].replace(':id', encodeURIComponent(id));
  const asked = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''));
  return asked.size > 0 ? `${path}?${asked}` : path;
}

export interface Router {
  go(address: string): void;
  /** Changes the address without opening the page again. */
  restate(address: string): void;
}

/**
 * Opens pages when links or the browser's back and forward buttons are used. `open` is also called
 * once at startup.
 */
export function startRouter(open: (place: Place) => void): Router {
  const address = () => location.pathname + location.search;
  let opened = '';
  const here = () => {
    opened = address();
    open(placeOf(new URL(location.href)));
  };
  const go = (next: string) => {
    history.pushState(null, '', next);
    here();
  };
  // A link to a part of the open page changes only the hash, so nothing is opened again.
  addEventListener('popstate', () => address() !== opened && here());
  document.addEventListener('click', (event) => {
    const link = followed(event);
    if (!link) return;
    event.preventDefault();
    go(link);
  });
  here();
  return {
    go,
    restate(next) {
      history.replaceState(null, '', next);
      opened = address();
    },
  };
}

/**
 * Returns the address if a click without modifier keys is on a link to a page of the console;
 * otherwise null.
 */
function followed(event: MouseEvent): string | null {
  if (event.defaultPrevented || event.button !== 0) return null;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null;
  const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement);
  if (link?.target !== '' || link.hasAttribute('download')) return null;
  const url = new URL(link.href);
  const own = url.origin === location.origin && placeOf(url).name !== null;
  const sameDocument = url.pathname === location.pathname && url.hash !== '';
  return own && !sameDocument ? url.pathname + url.search : null;
}
