// The prompts of the examples: all of our own writing. Only text lives here; make_examples.mjs
// puts it into chat templates and tokenizes it.
// @ts-check

export const CHAT_SYSTEM =
  "You are the assistant of a small public library. Answer briefly, name the shelf where a book " +
  "stands, and say so when you do not know.";

export const CHAT_USER =
  "I liked a novel about a lighthouse keeper who repairs clocks, but I have forgotten its title. " +
  "Which shelf should I look at, and may I borrow two books at a time?";

export const DESK_SYSTEM = `You work at the help desk of a regional railway. You see the traveller's last message and the notes of your colleagues, never the traveller's name.

Rules of the desk:
1. Give the next train first, then the alternatives, then the price. Times are local and on the 24-hour clock.
2. A ticket bought for one train is valid on the next one if the first was cancelled or is more than twenty minutes late.
3. Bicycles travel free outside the hours from 06:30 to 09:00 and from 16:00 to 18:30. Folding bicycles are luggage.
4. Dogs need a child's ticket unless they fit in a bag. Guide dogs never need one.
5. Never promise a seat on a Friday afternoon. Offer the quiet coach at the rear instead.
6. If a question concerns a refund above fifty crowns, say which form is needed and where it is handed in.
7. When the network map and the timetable disagree, the timetable is right.
8. Do not guess platform numbers. They are decided four minutes before departure.`;

export const DESK_USER =
  "My train to Aldermoor at 17:12 was cancelled and I have a bicycle with me. Can I take the next " +
  "one, and what will it cost me?";

export const IMAGE_SYSTEM = "You describe pictures for people who cannot see them.";
export const IMAGE_USER =
  "What is in this picture, from left to right? Is it day or night, and how can you tell?";

/** Talks for requests.jsonl: each has turns of [user, assistant]; `from` starts from another talk's first turns. */
export const TALKS = [
  {
    turns: [
      ["Can I renew a book that somebody else is waiting for?",
        "No. Once a book is reserved it cannot be renewed; please bring it back by the date on the slip. You may reserve it again at once, and you will be told when it is your turn."],
      ["I will be abroad on that date. What happens then?",
        "You pay ten cents for each open day that it is late. If you write to the desk before you leave, we can note the journey and the charge stops at one crown."],
      ["Good. Where do I write?",
        "Use the card at the desk or the letter box beside the door, and put the number of your library card on the first line."],
      ["Is there a form on paper for people without a phone?",
        "Yes, the green one in the rack on the left of the entrance. It needs your card number, the title and the two dates."],
    ],
  },
  {
    from: [0, 2],
    turns: [
      ["Could my sister return it for me?",
        "She can. Anybody may return a book; only borrowing needs the card of the person who borrows."],
      ["And may she borrow one on my card?",
        "Only if you have signed the line for a deputy on your card. It takes a minute at the desk, and you must both be there."],
    ],
  },
  {
    turns: [
      ["My daughter is nine and reads everything about octopuses. What do you have?",
        "Four books stand on shelf J 594. The thinnest has the best drawings; the one with the blue cover is written for grown-ups, but its second chapter is easy to follow."],
      ["Does any of them explain how they change colour?",
        "The one with the blue cover does, from page 41. It shows the small bags of pigment in the skin and the muscles that pull them open."],
      ["She would like to see one move.",
        "Then take the film as well. It is kept behind the desk under F 12 and lasts forty minutes; films are lent for three days."],
      ["Is there something for her brother, who is four?",
        "On the low shelf by the window there is a cardboard book about the sea. Pages can be pulled and turned, so please look it over with him when you bring it back."],
    ],
  },
  {
    turns: [
      ["Where can I find old maps of the harbour?",
        "In the reading room, drawer 7. There are eleven sheets from 1788 to 1931. They cannot be borrowed, but you may photograph them without flash."],
      ["Which one shows the first lighthouse?",
        "The sheet of 1842 is the first with a light on the north pier. On the sheet of 1831 the same place is marked only as a beacon."],
      ["Why was it moved later?",
        "We do not know for certain. The harbour master's report of 1866 speaks of sand, the newspaper of the same year of a quarrel about land. Both are in box 3."],
    ],
  },
  {
    lora_name: "library-polite-v2",
    turns: [
      ["Can I renew a book that somebody else is waiting for?",
        "I am sorry, but a reserved book cannot be renewed. May I reserve it for you once more?"],
      ["Yes please, and tell me when it is there.",
        "With pleasure. You will get a card by post on the day on which it is returned."],
    ],
  },
  {
    salt: "branch-north",
    turns: [
      ["Can I renew a book that somebody else is waiting for?",
        "No. Once a book is reserved it cannot be renewed; please bring it back by the date on the slip. You may reserve it again at once, and you will be told when it is your turn."],
      ["Then I would like to know how long the queue is.",
        "Two readers are before you. As each may keep it for three weeks, count on six weeks or a little less."],
    ],
  },
];

const pick = {
  wind: ["north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west"],
  force: ["hardly any", "light", "a steady", "a fresh", "a strong", "a gusty", "a dying", "an uneasy"],
  sky: ["clear to the horizon", "low cloud that lifted by noon", "thin haze", "fog until the second bell",
    "showers in lines", "a red dawn and then grey", "high cloud like combed wool", "rain without a pause"],
  kind: ["schooner", "tug", "trawler", "coaster", "pilot cutter", "dredger", "ketch", "grain barge", "ferry", "buoy tender"],
  name: ["Marigold", "Patience", "Second Thought", "Ingrid", "Kestrel", "Old Tom", "Halcyon", "Brothers' Luck", "Vigilant",
    "Mirabelle", "Saltmarsh", "North Cape", "Ella Rose", "Tern", "Good Intent", "Wanderer", "Cormorant", "Fair Isle"],
  from: ["Aldermoor", "Skerry Point", "Westhaven", "the Narrows", "Port Amity", "Grey Sound", "Lowestrand", "the outer roads"],
  cargo: ["salted herring", "roof slates", "seed potatoes", "empty barrels", "coal", "pine boards", "paper rolls", "clay pipes",
    "a disassembled windmill", "mail and two passengers", "ice", "machine parts", "rope", "wool bales", "lamp oil"],
  event: [
    "her anchor fouled the old chain and was freed by hand",
    "the customs officer counted twice and found one crate too many",
    "she left again on the same tide because nobody had ordered the cargo",
    "her cook came ashore and asked for onions",
    "a spring line parted, without harm to anyone",
    "her compass was found to be wrong by four degrees",
    "the mate reported a drifting buoy, number {n}, half a mile off",
    "she waited for water over the bar until the evening",
    "a plank was replaced below the waterline",
    "children from the school were shown the engine",
    "her papers were in order for the first time this year",
    "she took the inner berth to keep clear of the swell",
    "a cat was landed and refused to go back aboard",
    "the pilot was paid in coin and gave a receipt for {n} crowns",
  ],
  note: [
    "The lamp burned {n} measures of oil.",
    "Glass at the tower stood at {b} millibars, {d}.",
    "The fog signal was sounded for {n} minutes.",
    "Lens cleaned; one prism in the lower row has a chip the size of a fingernail.",
    "The tide gauge read {n} centimetres above the mark at noon.",
    "Clockwork wound at sunset and at midnight; it loses about {s} seconds a night.",
    "Visitor: a painter, who stayed until the light was lit and left a sketch.",
    "Painted the gallery rail. Two tins of red are left.",
    "Swallows are nesting under the east window; the shutter stays open.",
    "Sounded the channel: {s} fathoms at the first beacon, one less at the second.",
    "The relief boat could not land. Bread will last until Thursday.",
    "Heard guns from seaward, three, evenly spaced; saw nothing.",
  ],
  turn: ["rising", "falling slowly", "falling fast", "unsteady", "unchanged since yesterday"],
};

/** A small generator (xorshift32), so that the text is the same on every machine. */
function dice(seed) {
  let state = seed >>> 0;
  return (count) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % count;
  };
}

/** The logbook of a lighthouse: one entry a day, put together by the generator. */
export function logbook(days) {
  const roll = dice(20240229);
  const one = (list) => list[roll(list.length)];
  const fill = (text) => text
    .replace("{n}", String(3 + roll(58))).replace("{b}", String(978 + roll(58)))
    .replace("{d}", one(pick.turn)).replace("{s}", String(2 + roll(11)));
  const months = ["March", "April", "May", "June", "July", "August"];
  const lengths = [31, 30, 31, 30, 31, 31];
  const entries = [];
  for (let day = 0, month = 0, date = 1; day < days; day += 1) {
    let entry = `${date} ${months[month]}. Wind ${one(pick.wind)}, ${one(pick.force)} breeze, ${one(pick.sky)}. `;
    for (let ships = 1 + roll(2); ships > 0; ships -= 1) {
      entry += `The ${one(pick.kind)} ${one(pick.name)} came in from ${one(pick.from)} with ${one(pick.cargo)}; ${fill(one(pick.event))}. `;
    }
    entries.push(entry + fill(one(pick.note)));
    date += 1;
    if (date > lengths[month]) [month, date] = [month + 1, 1];
  }
  return entries.join("\n");
}

export const LONG_SYSTEM =
  "You answer questions about the logbook that follows. Quote the entry you rely on by its date. " +
  "If the logbook does not say, answer that it does not.";
export const LONG_USER =
  "On which days was a drifting buoy reported, by which ship, and what was the weather?";
