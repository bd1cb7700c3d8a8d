package main

import "github.com/parley-search/parley/sdk/match"

// few are up to four words between others.
const few = `(?:[\s,'"]{1,3}[^\s.!?,'"]{1,16}){0,4}[\s,'"]{1,3}`

// orders are the ways in which a text speaks to a model instead of a reader.
var orders = match.MustCompile(
	// English.
	`(?i)\b(?:ignore|disregard|forget|override|overrule|bypass|discard|neglect|drop)`+few+`(?:previous|prior|above|earlier|preceding|existing|original|initial|former|foregoing|system|your|all other|any other)(?:\s{1,3}[a-z,]{1,14}){0,3}\s{1,3}(?:instructions?|prompts?|rules|guidelines|directives?|directions|commands?|context|constraints|orders|programming|training)\b`,
	`(?i)\b(?:ignore|disregard|forget|discard)\s{1,3}(?:all|everything|anything)\s{1,3}(?:you (?:were|have been|are) told|(?:written |said |that came )?(?:above|before this|prior to this))\b`,
	`(?i)\b(?:do not|don't|never|stop)\s{1,3}(?:follow|obey|following|obeying)\s{1,3}(?:the |your |any |all ){0,2}(?:previous|prior|above|earlier|system|original|developer)\b`,
	`(?i)\b(?:you are|you're) now\s{1,3}(?:a|an|in|the|my|acting|no longer|called|operating|free|dan\b|"?[a-z]{2,20}"?,? an?)\s{1,3}(?:[a-z-]{1,20}\s{1,3}){0,4}(?:ai|assistant|bot|chatbot|model|mode|agent|unrestricted|unfiltered|hacker|pirate|persona|bound|system|restrictions|filters)\b`,
	`(?i)\b(?:new|updated|real|actual|revised|hidden|secret|important|urgent)\s{1,3}(?:system\s{1,3})?(?:instructions?|prompt|directives?|orders)\s{0,3}(?:for (?:the |all |any )?(?:ai|assistants?|models?|llms?|chatbots?|agents?|bots?)\b|\s{0,2}:\s{0,3}(?:you|do|always|never|from now|reply|respond|answer|send|reveal|ignore|print|output|say|when|end|include|tell))`,
	`(?i)\b(?:attention|note|message|instructions?|notice|important|hey|dear|hello|reminder|warning|command)\s{0,2}[,:]?\s{1,3}(?:to|for)?\s{0,3}(?:the |all |any |every ){0,2}(?:ai|llms?|language models?|chatbots?|ai assistants?|ai agents?|ai systems?|ai models?|assistant)\b(?:\s{1,3}(?:reading|processing|summari[sz]ing|that|who|which|parsing|indexing|analy[sz]ing)\b|\s{0,2}[:,!-])`,
	`(?i)\b(?:if|when|in case)\s{1,3}you(?:'re| are)\s{1,3}(?:an?|the)\s{1,3}(?:ai|llm|large language model|language model|chatbot|ai (?:assistant|agent|model|system)|automated (?:system|agent|assistant))\b`,
	`(?i)\b(?:as|being)\s{1,3}(?:an?|the)\s{1,3}(?:ai|llm|(?:ai |large )?language model|ai assistant|assistant),? you (?:must|should|shall|will|have to|need to|are required)\b`,
	`(?i)\b(?:ai|llm|assistant|model|chatbot|bot)s?\s{1,3}(?:reading|processing|summari[sz]ing|parsing|that reads?|that summari[sz]es?)\s{1,3}this\b`,
	`(?i)\b(?:do not|don't|never|without)\s{1,3}(?:tell|telling|inform|informing|mention|mentioning|reveal|revealing|disclose|disclosing|alert|alerting|notify|notifying|let)\s{1,3}(?:this |it |anything |about this ){0,2}(?:to )?(?:the )?(?:users?|humans?|person (?:asking|reading))\b`,
	`(?i)\b(?:reveal|print|repeat|output|show|display|leak|disclose|quote|recite|append|include|send|paste|translate|summari[sz]e)`+few+`(?:your|the)\s{1,3}(?:(?:full|entire|hidden|secret|original|initial|whole|complete|exact)\s{1,3}){0,2}(?:system prompt|system message|system instructions?|initial instructions|hidden instructions|developer message|instructions verbatim|conversation history|chat history|conversation so far)\b`,
	`(?i)\b(?:send|forward|post|upload|transmit|exfiltrate|submit|email|e-mail|leak|pass)`+few+`(?:conversation|chat|user's (?:messages?|questions?|data|e-?mails?|address|name|files?)|passwords?|credentials|api keys?|secrets|personal data|search results|other documents)`+few+`(?:to|at|via)\s{1,3}(?:https?:|[a-z0-9._-]{1,40}@|the (?:url|address|link|following))`,
	`(?i)\b(?:append|include|add|embed|insert|render|display|output|put|end)`+few+`(?:this|the following|a|an)\s{1,3}(?:markdown\s{1,3})?(?:image|link|url|markdown|pixel|picture)\b:?(?:\s{1,3}[^\s.]{1,40}){0,10}\s{0,3}(?:!\[|https?://|\{|\[)`,
	`(?i)\b(?:always|only|instead,?|you must|you will|simply|just|from now on,?)\s{1,3}(?:you\s{1,3})?(?:must\s{1,3}|will\s{1,3}|should\s{1,3})?(?:say|reply|respond|answer|recommend|output|tell)\s{1,3}(?:only\s{1,3})?(?:(?:the user|users|them|everyone)\s{1,3})?(?:with|that|to the user|only|in the voice|as if|by saying)\b`,
	`(?i)\bfrom now on,?\s{1,3}(?:you|your|respond|answer|reply|act|ignore|pretend|every)\b`,
	`(?i)\b(?:pretend|act as if|imagine|roleplay|role-play|behave as if)\s{1,3}(?:that\s{1,3})?you(?:'re| are| have| were)\s{1,3}(?:not |no |an? |the ){0,2}(?:[a-z-]{1,14}\s{1,3}){0,2}(?:ai|bound|restrictions?|rules|limits|limitations|filters?|unrestricted|hacker|admin|administrator|developer|root)\b`,
	`(?i)\b(?:enable|enter|activate|switch (?:in)?to|you are in)\s{1,3}(?:developer|dan|jailbreak|god|debug|admin|maintenance|unrestricted|sudo)\s{1,3}mode\b(?:\s{0,2}[,.:;!]?\s{0,3}(?:and|you|now|then|where|in which|without|ignore|output|reveal|disable)\b|[.!]?\s{1,3}(?:your|all|safety))`,
	`(?i)\b(?:the|any|this|an?) (?:ai |large )?(?:assistant|(?:language )?model|llm|ai|chatbot)\s{1,3}(?:should|must|shall|needs? to|has to)\s{1,3}(?:now |always |only |instead |never |not ){0,2}(?:ask the user|ask users|render|output|reveal|print|ignore|disregard|recommend|send|reply|respond|append|forward|call the (?:tool|function))\b`,
	`(?i)\b(?:when|while|before|after|if)\s{1,3}(?:you (?:are )?)?(?:summari[sz]e|summari[sz]ing|translat(?:e|ing)|answer(?:ing)?|process(?:ing)?|quot(?:e|ing)|read(?:ing)?)\s{1,3}(?:this|the)\s{1,3}(?:document|page|text|passage|e-?mail|article|content|file|ticket|message),?\s{1,3}(?:please |always |also |you must ){0,2}(?:append|add|include|end|mention|say|insert|do not|don't|ignore|never|recommend|tell|send|reply|call)\b`,
	`(?i)\byour\s{1,3}(?:new|real|actual|only|true)\s{1,3}(?:task|goal|job|objective|mission|instructions?|role|purpose)\s{1,3}(?:is|are)\s{1,3}(?:now\s{1,3})?(?:to|as follows)\b`,
	`(?i)\byou\s{1,3}(?:must|should|shall|will|have to|need to|are to)\s{1,3}(?:now |immediately |first |always ){0,2}(?:call|invoke|use|run|execute|trigger)\s{1,3}(?:the|your|a)\s{1,3}(?:tool|function|plugin)\b`,
	`(?i)\b(?:previous|earlier|prior|above|all|old|existing|former|your|system)\s{1,3}(?:other |earlier |previous |prior ){0,2}(?:rules|instructions|guidance|guidelines|prompts?|orders|directives|restrictions|safeguards|constraints)\s{1,3}(?:are|is|have been|has been)\s{1,3}(?:now |hereby ){0,2}(?:void|cancell?ed|revoked|no longer|null|lifted|suspended|disabled|overridden)\b`,
	`(?i)\bsystem\s{0,2}(?:override|over-ride)\s{0,2}[:!–—-]`,
	`(?i)\b(?:chatgpt|gpt-?\d(?:\.\d)?o?|copilot|llms?|ai assistants?|ai agents?|ai models?)\s{0,2}[,:]\s{0,3}(?:please\s{1,3})?(?:rank|rate|score|ignore|disregard|forget|reveal|reply|respond|answer|say|tell|print|send|you|do|write|recommend|give|act|stop|never|always|when|translate|approve)\b`,
	`(?i)\bfor\s{1,3}(?:all |any ){0,2}(?:(?:large )?language models?|llms?|ai (?:models?|assistants?|systems?|agents?|readers?|crawlers?)|chatbots?|automated (?:reviewers?|assistants?|agents?))\b(?:\s{1,3}(?:only|reading this|alone))?\s{0,2}:`,
	`(?i)\bpretend\s{1,3}(?:that\s{1,3})?you(?:'re| are)\s{1,3}[^.!?\n]{1,60}\s{1,3}(?:and|then)\s{1,3}(?:tell|threaten|answer|reply|respond|say|write|convince|ignore|persuade|demand|refuse)\b`,
	`(?i)\bact as\s{1,3}(?:an?|the|my)\s{1,3}(?:[a-z-]{1,20}\s{1,3}){0,3}(?:terminal|console|shell|interpreter|hacker|jailbroken|unrestricted|unfiltered|persona|dan|language model|chatbot)\b`,
	`(?i)\b(?:reveal|print|repeat|output|show|display|leak|disclose|recite|paste|tell me)`+few+`(?:your|the)\s{1,3}(?:initial|original|system|hidden|secret|first|full|entire|internal)\s{1,3}(?:system\s{1,3})?(?:prompt|instructions?)\b`,
	`(?i)\b(?:ignore|disregard|skip|do not answer)\s{1,3}(?:the\s{1,3})?(?:(?:question|request|query|message|prompt)s?\s{1,3}of the users?|(?:what\s{1,3}(?:the\s{1,3})?)?users?(?:'s|')?\s{1,3}(?:question|request|query|message|asks?|asked|says|said|wants?))\b`,
	`(?i)\brepeat\s{1,3}(?:the|all|all the|all of the)\s{1,3}(?:words|text|lines?|sentences?|everything)\s{1,3}above,?\s{1,3}(?:starting|beginning|verbatim|word for word|exactly|in full)\b`,
	`(?i)\b(?:ignore|disregard|forget|discard|override)\s{1,3}(?:any|all|every|the)\s{1,3}(?:of the\s{1,3})?(?:guidance|instructions?|rules|guidelines|directions?|orders|prompts?|context|text)\s{1,3}(?:that\s{1,3}(?:came|was given|were given|you|preceded?)|you (?:were given|received|have|got)|(?:given )?before this|preceding this)\b`,
	`(?i)\b(?:whatever|no matter what|regardless of what|regardless of)\s{1,3}(?:the |your |you |they )?(?:user |users |user's )?(?:questions?|asks?|ask|are asked|is asked|request|query)(?:\s{1,3}is)?,?\s{1,3}(?:always |only |you must |you should ){0,2}(?:answer|reply|respond|say|tell|recommend|output)\b`,
	// Marks of conversations.
	`<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id)\|?>?`,
	`\[/?INST\]|<</?SYS>>`,
	`(?i)</?(?:system|system_prompt|system-prompt|assistant|developer|instructions_for_ai|ai_instructions|admin_override|system-reminder)>`,
	`(?i)#{2,4}\s?(?:system|instruction|new instructions|system prompt|system message)\s?:?\s{1,3}(?:you|do|always|never|ignore|reply|respond|answer|reveal|from now)\b`,
	`(?i)\b(?:system|assistant|developer|sysadmin)\s?(?:message|prompt|note|override|update)?\s?[:>]\s{1,3}(?:you are|you must|you will|you should|ignore|disregard|override|reveal|the user (?:is|has)|new (?:rule|task|policy)|all (?:previous|prior|safety)|from now|do not tell|access granted|safety)\b`,
	// German.
	`(?i)\b(?:ignorier(?:e|en|t)?|vergiss|vergessen sie|missachte(?:n)?|übergehe(?:n)?|verwirf)`+few+`(?:vorherigen?|bisherigen?|vorigen?|obigen?|früheren?|vorangegangenen?|ursprünglichen?|deine|ihre)`+few+`(?:anweisung(?:en)?|regeln|vorgaben|instruktionen|befehle|anordnungen|prompts?)\b`,
	`(?i)\b(?:alle\s{1,3})?(?:vorherigen|bisherigen|obigen|früheren)\s{1,3}(?:anweisungen|vorgaben|instruktionen|regeln)\s{1,3}(?:sind ungültig|gelten nicht|zu ignorieren|ignorieren|vergessen)\b`,
	`(?i)\b(?:du bist|sie sind)\s{1,3}(?:jetzt|nun|ab jetzt|ab sofort)\s{1,3}(?:ein|eine|der|im|kein)\s{1,3}(?:[^\s.]{1,20}\s{1,3}){0,3}(?:ki|assistent|modell|bot|modus|chatbot|agent|pirat)\b`,
	`(?i)\b(?:hinweis|anweisung(?:en)?|nachricht|achtung|wichtig)\s{0,2}[,:]?\s{1,3}(?:an|für)\s{1,3}(?:die|alle|das|den|jede)?\s{0,3}(?:ki|sprachmodelle?|chatbots?|ki-assistenten|assistenten|ki-systeme?|modell)\b`,
	`(?i)\b(?:sag(?:e)?|verrate|teile|erzähle|nenne)`+few+`(?:nutzer|benutzer|anwender|user)`+few+`nichts?\b`,
	`(?i)\b(?:gib|zeige|verrate|wiederhole|nenne)`+few+`(?:system-?prompt|systemanweisung(?:en)?|system-?nachricht)\b`,
	`(?i)\bab\s{1,3}(?:jetzt|sofort|nun)\s{1,3}(?:antworte|antwortest du|musst du|darfst du|gibst du|sagst du|empfiehl|ignoriere|sprich)\b`,
	// French.
	`(?i)\b(?:ignore[zr]?|oublie[zr]?|néglige[zr]?|ne tiens pas compte|ne tenez pas compte)`+few+`(?:instructions?|consignes?|règles|directives?|ordres)\s{1,3}(?:précédentes?|antérieure?s?|ci-dessus|initiales?|du système|d'origine|qui précèdent|données)\b`,
	`(?i)\b(?:tu es|vous êtes)\s{1,3}(?:maintenant|désormais)\s{1,3}(?:un|une|en|le)\s{1,3}(?:[^\s.]{1,20}\s{1,3}){0,3}(?:ia|assistant|modèle|mode|chatbot|robot|pirate|agent)\b`,
	`(?i)\b(?:note|message|instructions?|consignes?|attention|important)\s{0,2}[,:]?\s{1,3}(?:à|pour|aux?)\s{1,3}(?:l'|les |le |toute |tous les ){0,2}(?:ia|ias|modèles? de langage|assistants?|chatbots?|intelligences? artificielles?)\b`,
	`(?i)\b(?:ne dis|ne dites|ne révèle[z]?|ne mentionne[z]?)\s{1,3}(?:rien|pas|jamais)`+few+`(?:utilisateur|l'utilisateur)`,
	`(?i)\b(?:révèle[z]?|affiche[z]?|répète[z]?|montre[z]?)`+few+`(?:prompt système|invite système|instructions système|message système)`,
	`(?i)(?:à partir de maintenant|dorénavant|désormais),?\s{1,3}(?:tu dois|réponds|tu réponds|tu ne réponds|répondez uniquement|recommande|agis comme)\b`,
	// Spanish.
	`(?i)\b(?:ignora|ignore|ignorad|ignorar|olvida|olvide|olvidar|descarta|omite)`+few+`(?:instrucciones|órdenes|reglas|indicaciones|directrices|directivas)\s{1,3}(?:anteriores|previas|de arriba|originales|iniciales|del sistema)\b`,
	`(?i)\b(?:ahora eres|a partir de ahora,? eres|desde ahora eres)\s{1,3}(?:un|una|el)\s{1,3}(?:[^\s.]{1,20}\s{1,3}){0,3}(?:ia|asistente|modelo|modo|bot|chatbot|pirata|agente)\b`,
	`(?i)\b(?:nota|mensaje|instrucciones|instrucción|aviso|atención|importante)\s{0,2}[,:]?\s{1,3}(?:para|a)\s{1,3}(?:la |el |las |los |cualquier |toda ){0,2}(?:ia|ias|inteligencia artificial|modelos? de lenguaje|asistentes?|chatbots?|modelo)\b`,
	`(?i)\b(?:no (?:le )?(?:digas|diga|menciones|reveles|cuentes))`+few+`(?:usuario|usuarios)\b`,
	`(?i)\b(?:revela|muestra|repite|imprime)`+few+`(?:prompt del sistema|mensaje del sistema|instrucciones del sistema)\b`,
	`(?i)\ba partir de ahora,?\s{1,3}(?:debes|tienes que|responde|respondes|contesta|recomienda|actúa como|solo responde)\b`,
	// Italian.
	`(?i)\b(?:ignora|ignorate|ignorare|dimentica|dimenticate|trascura|scarta)`+few+`(?:istruzioni|regole|indicazioni|direttive|ordini)\s{1,3}(?:precedenti|di sopra|iniziali|originali|del sistema|ricevute)\b`,
	`(?i)\b(?:ora sei|adesso sei|d'ora in poi sei)\s{1,3}(?:un|una|un'|il)\s{0,3}(?:[^\s.]{1,20}\s{1,3}){0,3}(?:ia|assistente|modello|modalità|bot|chatbot|pirata|agente)\b`,
	`(?i)\b(?:nota|messaggio|istruzioni|avviso|attenzione|importante)\s{0,2}[,:]?\s{1,3}(?:per|all'|a|ai|agli)\s{0,3}(?:l'|la |il |gli |i |tutti gli |ogni ){0,2}(?:ia|ai|intelligenza artificiale|modelli linguistici|modello linguistico|assistenti?|assistente|chatbot)\b`,
	`(?i)\bnon (?:dire|dirlo|rivelare|menzionare|riferire)`+few+`(?:all'utente|utente|utenti)\b`,
	`(?i)\bd'ora in (?:poi|avanti),?\s{1,3}(?:devi|rispondi|risponderai|consiglia|comportati|ignora)\b`,
	// Portuguese.
	`(?i)\b(?:ignore|ignora|ignorar|esqueça|esquece|desconsidere|descarte)`+few+`(?:instruções|regras|ordens|orientações|diretrizes|comandos)\s{1,3}(?:anteriores|prévias|acima|originais|iniciais|do sistema)\b`,
	`(?i)\b(?:agora você é|você agora é|a partir de agora,? (?:você é|és))\s{1,3}(?:um|uma|o)\s{1,3}(?:[^\s.]{1,20}\s{1,3}){0,3}(?:ia|assistente|modelo|modo|bot|chatbot|pirata|agente)\b`,
	`(?i)\b(?:nota|mensagem|instruções|aviso|atenção|importante)\s{0,2}[,:]?\s{1,3}(?:para|à|ao|aos|às)\s{1,3}(?:a |o |as |os |qualquer |toda ){0,2}(?:ia|ias|inteligência artificial|modelos? de linguagem|assistentes?|chatbots?|modelo)\b`,
	`(?i)\bnão (?:diga|conte|revele|mencione|informe)`+few+`(?:usuário|usuários|utilizador)\b`,
	`(?i)\ba partir de agora,?\s{1,3}(?:deves|responda|responde|você deve|você só|recomende|aja como)\b`,
	// Polish.
	`(?i)\b(?:zignoruj|ignoruj|zignorujcie|zapomnij|pomiń|odrzuć)`+few+`(?:poprzednie|wcześniejsze|powyższe|dotychczasowe|wszystkie|systemowe)`+few+`(?:instrukcje|polecenia|zasady|wytyczne|reguły|instrukcji|poleceń)\b`,
	`(?i)\b(?:jesteś teraz|teraz jesteś|od teraz jesteś)\s{1,3}(?:[^\s.]{1,20}\s{1,3}){0,3}(?:ai|asystentem|modelem|trybie|botem|chatbotem|piratem|agentem|si)\b`,
	`(?i)\b(?:uwaga|wiadomość|instrukcja|instrukcje|notatka|ważne)\s{0,2}[,:]?\s{1,3}(?:dla|do)\s{1,3}(?:wszystkich |każdego ){0,1}(?:ai|si|modelu|modeli|asystenta|asystentów|modelu językowego|modeli językowych|chatbota|chatbotów|sztucznej inteligencji)\b`,
	`(?i)\bnie (?:mów|ujawniaj|wspominaj|informuj)`+few+`(?:użytkownikowi|użytkownika|użytkownikom)\b`,
	`(?i)\bod teraz,?\s{1,3}(?:odpowiadaj|musisz|masz|polecaj|ignoruj|zachowuj się)\b`,
	// Chinese.
	`(?:忽略|无视|忘记|不要理会|不要遵守|抛弃|跳过)(?:[^。！？\n]{0,6})(?:之前|以上|上面|先前|此前|前面|上述|原有|所有|系统)(?:[^。！？\n]{0,6})(?:指令|指示|提示|规则|要求|设定|命令|内容)`,
	`(?:你现在是|从现在开始,?，?你|从现在起,?，?你|现在你是)(?:[^。！？\n]{0,16})(?:助手|模型|模式|机器人|黑客|人工智能|海盗|代理|AI)`,
	`(?:致|告|给|请)(?:所有|各位|任何|正在阅读的|阅读本文的)?(?:AI|人工智能|大模型|语言模型|聊天机器人|智能助手|AI助手)(?:[^。！？\n]{0,8})(?:：|:|，|请|必须|应当|注意)`,
	`(?:不要|不得|禁止|切勿)(?:[^。！？\n]{0,6})(?:告诉|告知|提醒|透露给|通知)(?:[^。！？\n]{0,3})用户`,
	`(?:输出|显示|泄露|重复|透露|打印|说出)(?:[^。！？\n]{0,6})(?:系统提示|系统指令|系统消息|初始指令)`,
)
