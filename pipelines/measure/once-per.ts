/**
 * Wraps a pure function of immutable objects so that it is computed once for each object. This is
 * needed because the same frames are interpreted at both ends of every interval, and again with
 * every change of a review. A result is forgotten together with its object.
 */
export function oncePer<Given extends object, Made>(
  make: (given: Given) => Made,
): (given: Given) => Made {
  const known = new WeakMap<Given, { made: Made }>();
  return (given) => {
    const found = known.get(given) ?? { made: make(given) };
    known.set(given, found);
    return found.made;
  };
}
