# Written on Windows

User-agent: * # everybody
Disallow: /intern/   # not for you
Disallow: /old # moved

# The robot of the intranet
User-agent: IntraBot/2.0
Disallow:
#Disallow: /
