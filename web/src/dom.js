// @ts-check
// A view is a pure function from state to virtual nodes; `patch` makes an element's children equal
// to them and touches only what differs, so focus, scroll positions and half-typed text survive.
// Nothing here knows what the page shows.

/** @typedef {{tag: string, props: Record<string, any>, children: VChild[], key: string | number | null}} VNode */
/** @typedef {VNode | string} VChild */
/** @typedef {VNode | string | number | null | undefined | false | Loose[]} Loose */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make a virtual node. Falsy children vanish, arrays are flattened.
 * @param {string} tag
 * @param {Record<string, any> | null} [props] attributes; `on…` are listeners; `style` an object;
 *   `key` keeps a node among its siblings; `foreign` leaves its children alone
 * @param {...Loose} children
 * @returns {VNode}
 */
export function h(tag, props, ...children) {
  /** @type {VChild[]} */
  const flat = [];
  flatten(children, flat);
  return { tag, props: props ?? {}, children: flat, key: props?.key ?? null };
}

/** @param {Loose[]} from @param {VChild[]} into */
function flatten(from, into) {
  for (const child of from) {
    if (Array.isArray(child)) flatten(child, into);
    else if (typeof child === "number") into.push(String(child));
    else if (child) into.push(child);
  }
}

/** Virtual form of each node that we made. @type {WeakMap<Node, VChild>} */
const made = new WeakMap();

/**
 * Make `parent`'s children equal to `children`.
 * @param {Element} parent
 * @param {Loose | Loose[]} children
 */
export function patch(parent, children) {
  /** @type {VChild[]} */
  const wanted = [];
  flatten(Array.isArray(children) ? children : [children], wanted);
  patchChildren(parent, wanted, parent.namespaceURI === SVG);
}

/** @param {Element} parent @param {VChild[]} wanted @param {boolean} svg */
function patchChildren(parent, wanted, svg) {
  /** @type {Map<string | number, ChildNode>} */
  const keyed = new Map();
  /** @type {ChildNode[]} */
  const loose = [];
  for (const node of parent.childNodes) {
    const v = made.get(node);
    if (v && typeof v !== "string" && v.key !== null) keyed.set(v.key, node);
    else loose.push(node);
  }
  let taken = 0;
  /** @type {ChildNode | null} */
  let at = parent.firstChild;
  for (const v of wanted) {
    /** @type {ChildNode | undefined} */
    let node;
    if (typeof v !== "string" && v.key !== null) {
      node = keyed.get(v.key);
      if (node) keyed.delete(v.key);
    } else {
      node = loose[taken];
      if (node) taken += 1;
    }
    const fresh = !node || !fits(node, v);
    const now = fresh ? create(v, svg) : /** @type {ChildNode} */ (node);
    if (!fresh) update(now, v, svg);
    if (fresh && node) {
      if (at === node) at = node.nextSibling;
      node.remove();
    }
    // A window that moved on: what it left behind at the front takes its turn at the end. Moving
    // those few beats moving all that stayed.
    if (now !== at && !fresh) {
      let ahead = 0;
      for (let n = at; n && n !== now && ahead <= wanted.length / 2; n = n.nextSibling) ahead += 1;
      if (ahead <= wanted.length / 2) while (at && at !== now) {
        const behind = at;
        at = at.nextSibling;
        parent.appendChild(behind);
      }
    }
    if (now === at) at = now.nextSibling;
    else parent.insertBefore(now, at);
  }
  for (const node of keyed.values()) node.remove();
  for (let i = taken; i < loose.length; i += 1) loose[i].remove();
}

/** @param {ChildNode} node @param {VChild} v */
function fits(node, v) {
  const old = made.get(node);
  if (typeof v === "string") return node.nodeType === Node.TEXT_NODE;
  return !!old && typeof old !== "string" && old.tag === v.tag;
}

/** @param {VChild} v @param {boolean} svg @returns {ChildNode} */
function create(v, svg) {
  if (typeof v === "string") {
    const text = document.createTextNode(v);
    made.set(text, v);
    return text;
  }
  const inside = svg || v.tag === "svg";
  const element = inside ? document.createElementNS(SVG, v.tag) : document.createElement(v.tag);
  update(element, v, inside);
  return element;
}

/** @param {ChildNode} node @param {VChild} v @param {boolean} svg */
function update(node, v, svg) {
  if (typeof v === "string") {
    if (node.nodeValue !== v) node.nodeValue = v;
    made.set(node, v);
    return;
  }
  const element = /** @type {HTMLElement} */ (node);
  const old = /** @type {VNode | undefined} */ (made.get(node));
  if (old === v) return; // the same virtual node: a view that kept it says nothing changed
  const before = old?.props ?? {};
  for (const name in before) if (!(name in v.props)) setProp(element, name, null, before[name]);
  // A select's value means nothing before its options are there, so children come first.
  // `foreign`: somebody else draws what is inside.
  if (!v.props.foreign) patchChildren(element, v.children, svg && v.tag !== "foreignObject");
  for (const name in v.props) setProp(element, name, v.props[name], before[name]);
  made.set(node, v);
}

/** @param {HTMLElement} element @param {string} name @param {any} value @param {any} old */
function setProp(element, name, value, old) {
  if (name === "key" || name === "foreign") return;
  if (name.startsWith("on")) {
    /** @type {any} */ (element)[name] = value;
  } else if (name === "value" || name === "checked" || name === "disabled" || name === "open") {
    const target = /** @type {any} */ (element);
    if (target[name] !== value) target[name] = value ?? (name === "value" ? "" : false);
  } else if (name === "style") {
    for (const key in old ?? {}) if (!value || !(key in value)) element.style.removeProperty(key);
    for (const key in value ?? {}) {
      if (old?.[key] !== value[key]) element.style.setProperty(key, String(value[key]));
    }
  } else if (value === null || value === undefined || value === false) {
    if (old !== undefined && old !== null && old !== false) element.removeAttribute(name);
  } else if (value !== old) {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}
